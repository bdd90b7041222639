import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Bodies that are kept beside the store, and runs that are made of them.
@Suite struct KeptBodyTests {
    static func mapping(_ options: String = "keep_bodies = 2", name: String = "\"name\"", path: String = "/a") -> String
    {
        """
        [[sources.s.requests]]
        key = "\(path.dropFirst())"
        url = "URL\(path)"
        sync = "mirror"
        \(options)
        tables = [{ table = "thing", element = "item", key = ["id"], columns = { id = "@id", name = \(name) } }]

        """
    }

    /// The names of the files that are kept of the source, without their ends.
    static func files(_ fixture: EngineFixture, of source: String = "s") throws -> Set<String> {
        let folder = try fixture.configuration(mapping()).bodyFolder + "/" + source
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return Set(files.map { $0.replacing(".gz", with: "") })
    }

    static func names(_ fixture: EngineFixture) throws -> [String] {
        try fixture.rows("SELECT bodies FROM tributary_request ORDER BY key").flatMap {
            $0.split(separator: " ").map(String.init)
        }
    }

    /// Each letter is nine bytes of a file's name, which has 255.
    @Test func sourcesMayHaveLongNames() async throws {
        let names = ["一", "二"].map { String(repeating: "源", count: 60) + $0 }
        let sources = names.map { name in
            Self.mapping("keep_bodies = 1").replacing("sources.s.", with: "sources.\"\(name)\".")
                .replacing("thing", with: name.hasSuffix("一") ? "one" : "two")
        }
        try await EngineFixture.with { (fixture) async throws in
            // More than memory is meant for.
            let pad = String(repeating: "x", count: 2_000)
            let document = EngineFixture.items((0..<3_000).map(String.init), name: pad)
            fixture.server.document("/a", document)
            for report in try await fixture.sync(sources.joined()) {
                #expect(report.error == nil && report.counts.inserted == 3_000)
            }
            #expect(try Self.names(fixture).count == 2)
            let folder = try fixture.configuration(sources.joined()).bodyFolder
            let kept = { try FileManager.default.contentsOfDirectory(atPath: folder) }
            #expect(try kept().count == 2)
            let work = (try? FileManager.default.contentsOfDirectory(atPath: fixture.store.workFolder)) ?? []
            #expect(!work.contains { $0.contains("%") })
        }
    }

    @Test(.onEachStore) func theLastBodiesAreKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for number in 0..<4 {
                fixture.server.document("/a", EngineFixture.items(["\(number)"]), etag: "\"\(number)\"")
                try await fixture.sync(Self.mapping())
                #expect(try Self.names(fixture).count == min(2, number + 1))
                #expect(try Self.files(fixture) == Set(Self.names(fixture)))
            }
            let before = try Self.names(fixture)
            #expect(try await fixture.sync(Self.mapping()).first?.outcome == .unchanged)
            #expect(try Self.names(fixture) == before)
            // The same body once more takes the place of the last one.
            #expect(try await fixture.sync(Self.mapping(), mode: .full).first?.outcome == .committed)
            #expect(try Self.names(fixture).last == before.last && Self.names(fixture) != before)
            #expect(try Self.files(fixture) == Set(Self.names(fixture)))
            let folder = try fixture.configuration(Self.mapping()).bodyFolder
            for path in [folder, folder + "/s", folder + "/s/" + before[1] + ".gz"] {
                let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
                #expect(mode == (path.hasSuffix(".gz") ? 0o600 : 0o700))
            }
            // Lowered, the older one goes; switched off, all go.
            try await fixture.sync(Self.mapping("keep_bodies = 1"))
            #expect(try Self.files(fixture) == Set(Self.names(fixture)) && Self.names(fixture).count == 1)
            #expect(try await fixture.sync(Self.mapping("")).first?.outcome == .unchanged)
            #expect(try Self.files(fixture).isEmpty && Self.names(fixture) == ["NULL"])
            #expect(!FileManager.default.fileExists(atPath: folder + "/s"))
        }
    }

    @Test(.onEachStore) func aMendedMappingChangesWhatItChanges() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let body =
                "<items><item id='1'><name>a</name><title>A</title></item><item id='2'><name>b</name></item></items>"
            fixture.server.document("/a", body, etag: "\"1\"")
            try await fixture.sync(Self.mapping())
            let due = try fixture.rows("SELECT next_due FROM tributary_source")
            let same = try await fixture.replay(Self.mapping())
            #expect(same.outcome == .committed && same.kind == .replay && same.counts.unchanged == 2)
            let mended = Self.mapping(name: "{ path = \"title\", default = \"b\" }")
            let report = try await fixture.replay(mended)
            #expect(report.error == nil && report.counts.updated == 1 && report.counts.unchanged == 1)
            #expect(try fixture.rows("SELECT name FROM thing ORDER BY id") == ["A", "b"])
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run WHERE kind = 'replay'") == ["2"])
            #expect(try fixture.rows("SELECT next_due FROM tributary_source") == due)
            #expect(try fixture.rows("SELECT operation FROM tributary_change ORDER BY id DESC LIMIT 1") == ["update"])
            #expect(fixture.server.requests("/a").count == 1)
            // Its rows stand for the same document: the next request has its entity tag.
            #expect(try await fixture.sync(mended).first?.outcome == .unchanged)
            #expect(fixture.server.requests("/a").last?.headers["if-none-match"] == "\"1\"")
            // Asked for another document, it has not.
            fixture.server.document("/b", body, etag: "\"1\"")
            let other = mended.replacing("URL/a", with: "URL/b")
            #expect(try await fixture.replay(other).outcome == .committed)
            #expect(try await fixture.sync(other).first?.outcome == .committed)
        }
    }

    @Test func withoutABodyTheErrorSaysWhatToDo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            try await fixture.sync(Self.mapping(""))
            var report = try await fixture.replay(Self.mapping(""))
            #expect(report.outcome == .discarded)
            #expect(report.error?.contains("no body of request 'a' is kept in ") == true)
            #expect(report.error?.contains("set keep_bodies = 1 for the source") == true)
            #expect(try fixture.rows("SELECT count(*) FROM tributary_run") == ["1"])
            // Switched on, the next request is unconditional, so that a body is there.
            #expect(try await fixture.sync(Self.mapping()).first?.outcome == .committed)
            report = try await fixture.replay(Self.mapping())
            #expect(report.outcome == .committed)
            // So it is where the file is gone.
            let folder = try fixture.configuration(Self.mapping()).bodyFolder
            try FileManager.default.removeItem(atPath: folder)
            report = try await fixture.replay(Self.mapping())
            #expect(report.error?.contains("`tributary sync s --full` fetches and keeps them") == true)
            #expect(try await fixture.sync(Self.mapping()).first?.outcome == .committed)
            #expect(try await fixture.sync(Self.mapping()).first?.outcome == .unchanged)
            report = try await fixture.replay(Self.mapping().replacing("mirror", with: "append"))
            #expect(report.error?.contains("would insert them again") == true)
        }
    }

    @Test func aDamagedFileIsNoDocument() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items((0..<500).map(String.init)))
            try await fixture.sync(Self.mapping())
            let before = try fixture.dump()
            let name = try #require(try Self.names(fixture).first)
            let path = try fixture.configuration(Self.mapping()).bodyFolder + "/s/\(name).gz"
            let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
            for damaged in [bytes.dropLast(), bytes.prefix(30), Data("<x/>".utf8) + bytes] {
                try Data(damaged).write(to: URL(fileURLWithPath: path))
                let report = try await fixture.replay(Self.mapping())
                #expect(report.outcome == .discarded && report.error?.contains("damaged") == true, "\(report)")
                #expect(try fixture.dump() == before)
            }
        }
    }

    @Test(.onEachStore) func olderBodiesMendWhatHasLeftTheFeed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let mapping = Self.mapping().replacing("mirror", with: "upsert")
            for (number, ids) in [["1", "2"], ["2", "3"], ["3", "4"]].enumerated() {
                fixture.server.document("/a", EngineFixture.items(ids, name: "n\(number)"))
                try await fixture.sync(mapping)
            }
            let names = "SELECT id, name FROM thing ORDER BY id"
            let before = try fixture.rows(names)
            #expect(before == ["1|n0", "2|n1", "3|n2", "4|n2"])
            let same = try await fixture.replay(mapping, all: true)
            #expect(same.error == nil && same.counts.updated == 0 && same.counts.inserted == 0)
            let mended = mapping.replacing(
                "\"name\" }", with: "{ path = \"name\", values = { n0 = \"a\", n1 = \"b\", n2 = \"c\" } } }")
            #expect(try await fixture.replay(mended).counts.updated == 2)
            #expect(try await fixture.replay(mended, all: true).counts.updated == 1)
            // Two are kept.
            #expect(try fixture.rows(names) == ["1|n0", "2|b", "3|c", "4|c"])
            let mirror = mended.replacing("upsert", with: "mirror")
            #expect(try await fixture.replay(mirror, all: true).counts.deleted == 2)
        }
    }

    @Test func pagesAndRowsStayInTheirOrder() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for page in 1...3 {
                let next = page < 3 ? "<next>/list\(page + 1)</next>" : ""
                fixture.server.document("/list\(page)", "<l>\(next)<i id='\(page)'/><i id='x' n='\(page)'/></l>")
                fixture.server.document("/lines/\(page)", "<r><line>\(page)</line></r>")
            }
            fixture.server.document("/lines/x", "<r/>")
            fixture.server.document("/login", "<t>secret</t>")
            func sources(_ name: String) -> String {
                """
                [sources.s]
                keep_bodies = 1
                sync = "mirror"
                headers = { X-Key = "hushed" }
                parameters = { key = "hushed" }
                [[sources.s.requests]]
                key = "login"
                url = "URL/login"
                capture = { token = "/t" }
                [[sources.s.requests]]
                key = "list"
                url = "URL/list1"
                headers = { X-Token = "${capture:token}" }
                page = { next = "/l/next" }
                tables = [{ table = "i", element = "i", key = ["id"], columns = { id = "@id", n = "@n" } }]
                [[sources.s.requests]]
                key = "lines"
                url = "URL/lines/${row:id}"
                for_each = "SELECT id FROM staged.i ORDER BY id"
                tables = [{ table = "line", element = "line", columns = { i = { row = "id" }, \(name) = ".", u = { response = "url" } } }]

                """
            }
            try await fixture.sync(sources("n"))
            let before = try fixture.dump()
            let requests = fixture.server.requests().count
            #expect(requests == 8)
            let same = try await fixture.replay(sources("n"))
            #expect(same.error == nil && same.counts.inserted + same.counts.updated + same.counts.deleted == 0)
            #expect(try fixture.dump() == before)
            let other = try await fixture.replay(sources("m"))
            #expect(other.error == nil)
            #expect(try fixture.rows("SELECT m FROM line WHERE m IS NOT NULL ORDER BY m") == ["1", "2", "3"])
            #expect(fixture.server.requests().count == requests)
            // What the rows of a login have brought is not kept, neither as a body nor beside one.
            let folder = try fixture.configuration(sources("n")).bodyFolder + "/s"
            let files = try FileManager.default.contentsOfDirectory(atPath: folder)
            #expect(files.count == 2)
            for file in files {
                let bytes = try Data(contentsOf: URL(fileURLWithPath: folder + "/" + file))
                #expect(bytes.range(of: Data("secret".utf8)) == nil && bytes.range(of: Data("hushed".utf8)) == nil)
            }
        }
    }

    @Test func whatAResponseTellsIsKept() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in
                StubServer.response(
                    200, "<r><i>\u{E4}</i></r>".unicodeScalars.map { UInt8($0.value) },
                    [
                        "Content-Type": "text/xml; charset=iso-8859-1",
                        "Last-Modified": "Sat, 21 Nov 2026 08:30:00 GMT",
                    ])
            }
            let sources = """
                [[sources.s.requests]]
                url = "URL/a"
                method = "POST"
                body = "ask"
                keep_bodies = 1
                max_body = "128B"
                [[sources.s.requests.tables]]
                table = "fact"
                element = "i"
                key = ["id"]
                columns.id = "."
                columns.url = { response = "url" }
                columns.at = { response = "fetched_at" }
                columns.modified = { response = "last_modified" }

                """
            try await fixture.sync(sources)
            #expect(try fixture.rows("SELECT id, modified FROM fact") == ["\u{E4}|2026-11-21T08:30:00Z"])
            let report = try await fixture.replay(sources)
            #expect(report.error == nil && report.counts.unchanged == 1, "\(report)")
        }
    }

    @Test func whatIsLeftOverGoes() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            try await fixture.sync(Self.mapping())
            let kept = try Self.files(fixture)
            // As a process leaves it that dies before its commit, or during its run.
            let folder = try fixture.configuration(Self.mapping()).bodyFolder
            try Data("x".utf8).write(to: URL(fileURLWithPath: folder + "/s/left-over.gz"))
            try FileManager.default.createDirectory(
                atPath: fixture.store.workFolder, withIntermediateDirectories: true)
            try Data("x".utf8).write(to: URL(fileURLWithPath: fixture.store.workFolder + "/s.0.body"))
            try await fixture.sync(Self.mapping())
            #expect(try Self.files(fixture) == kept)
            let scratch = (try? FileManager.default.contentsOfDirectory(atPath: fixture.store.workFolder)) ?? []
            #expect(!scratch.contains { $0.hasSuffix(".body") })
            // A run that is discarded leaves nothing.
            fixture.server.document("/a", "<items><item id='1'>")
            #expect(try await fixture.sync(Self.mapping()).first?.outcome == .discarded)
            #expect(try Self.files(fixture) == kept)
        }
    }

    /// A typing error in `--config` must not destroy what a replay needs.
    @Test func anotherConfigurationLeavesTheBodiesAlone() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            fixture.server.document("/b", EngineFixture.items(["1"]))
            try await fixture.sync(Self.mapping())
            let kept = try Self.files(fixture)
            #expect(kept.count == 1)
            let other = Self.mapping("", path: "/b").replacing("sources.s.", with: "sources.t.")
                .replacing("\"thing\"", with: "\"other\"")
            // Once, as a daemon, and in the place of the first one.
            #expect(try await fixture.sync(other).first?.outcome == .committed)
            #expect(try Self.files(fixture) == kept)
            try await HookFixture.run(fixture, other) { (hooks) async throws in
                try await hooks.refresh("t")
                hooks.service.reload(try fixture.configuration(Self.mapping()))
                hooks.service.reload(try fixture.configuration(other))
                try await hooks.refresh("t")
                #expect(try Self.files(fixture) == kept)
            }
            #expect(try await fixture.replay(Self.mapping()).outcome == .committed)
            let configuration = try fixture.configuration(other)
            #expect(configuration.removeBodies(of: "s").isEmpty)
            #expect(try Self.files(fixture).isEmpty)
        }
    }

    @Test func mistakesAreReported() async throws {
        for (value, expected) in [("-1", "expected 0 or more"), ("\"3\"", "an integer"), ("1001", "at most 1000")] {
            try await EngineFixture.expectMistake(Self.mapping("keep_bodies = \(value)"), expected)
        }
    }
}
