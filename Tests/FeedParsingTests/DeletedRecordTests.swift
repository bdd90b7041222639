import FeedModel
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// `deleted_when`: a record that says that it is deleted deletes the row that has its key.
@Suite struct DeletedRecordTests {
    private static let condition = "deleted_when = \"status = 'deleted'\"\n"

    private static func sources(_ options: String = condition, request: String = "", lines: String = "") -> String {
        """
        [[sources.s.requests]]
        url = "URL/a"
        \(request)
        [[sources.s.requests.tables]]
        table = "article"
        element = "a"
        key = ["sku"]
        \(options)
        [sources.s.requests.tables.columns]
        sku = { path = "@sku", type = "integer" }
        name = { path = "@name", required = true }
        status = { path = "@status", stored = false }
        \(lines)
        """
    }

    private static let rows = "SELECT sku, name FROM article ORDER BY sku"

    private func sync(_ fixture: EngineFixture, _ document: String, _ sources: String = sources()) async throws
        -> RunReport
    {
        fixture.server.document("/a", "<r>\(document)</r>")
        return try #require(try await fixture.sync(sources).first)
    }

    @Test(.onEachStore) func aDeltaDeletes() async throws {
        try await EngineFixture.with { (fixture) async throws in
            _ = try await sync(fixture, "<a sku='1' name='A'/><a sku='2' name='B'/><a sku='3' name='C'/>")
            // Only the key of a deleted record counts; one that is not there is nothing.
            let report = try await sync(
                fixture,
                "<a sku='2' status='deleted'/><a sku='4' name='D' status='new'/><a sku='9' status='deleted'/>")
            #expect(report.error == nil)
            #expect(report.counts.deleted == 1 && report.counts.inserted == 1, "\(report.counts)")
            #expect(try fixture.rows(Self.rows) == ["1|A", "3|C", "4|D"])
            // The last record of one key counts.
            let again = try await sync(
                fixture,
                "<a sku='1' status='deleted'/><a sku='1' name='again'/><a sku='3' name='x'/><a sku='3' status='deleted'/>"
            )
            #expect(again.error == nil)
            #expect(try fixture.rows(Self.rows) == ["1|again", "4|D"])
        }
    }

    @Test(.onEachStore) func aMirrorLeavesThemOut() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(request: "sync = \"mirror\"")
            _ = try await sync(fixture, "<a sku='1' name='A'/><a sku='2' name='B'/><a sku='3' name='C'/>", sources)
            let report = try await sync(fixture, "<a sku='1' name='A'/><a sku='2' status='deleted'/>", sources)
            #expect(report.error == nil && report.counts.deleted == 2, "\(report)")
            #expect(try fixture.rows(Self.rows) == ["1|A"])
        }
    }

    @Test(.onEachStore) func rowsAreMarkedInstead() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(Self.condition + "deleted = \"gone_at\"\n")
            _ = try await sync(fixture, "<a sku='1' name='A'/><a sku='2' name='B'/>", sources)
            let report = try await sync(fixture, "<a sku='2' status='deleted'/>", sources)
            #expect(report.error == nil && report.counts.deleted == 1, "\(report)")
            let marks =
                "SELECT sku, name, CASE WHEN gone_at IS NULL THEN 'there' ELSE 'gone' END FROM article ORDER BY sku"
            #expect(try fixture.rows(marks) == ["1|A|there", "2|B|gone"])
            #expect(try await sync(fixture, "<a sku='2' status='deleted'/>", sources).counts.deleted == 0)
            let back = try await sync(fixture, "<a sku='2' name='B'/>", sources)
            #expect(back.counts.inserted == 1, "\(back)")
            #expect(try fixture.rows(marks) == ["1|A|there", "2|B|there"])
        }
    }

    @Test(.onEachStore) func whatIsWithinGoesWithIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(
                lines: """
                    [[sources.s.requests.tables]]
                    table = "line"
                    element = "a/l"
                    key = ["article", "n"]
                    columns = { article = { parent = "article" }, n = "@n" }
                    """)
            _ = try await sync(
                fixture, "<a sku='1' name='A'><l n='x'/></a><a sku='2' name='B'><l n='y'/><l n='z'/></a>", sources)
            let report = try await sync(fixture, "<a sku='2' status='deleted'><l n='new'/></a>", sources)
            #expect(report.error == nil, "\(report)")
            #expect(try fixture.rows(Self.rows) == ["1|A"])
            #expect(try fixture.rows("SELECT article, n FROM line") == ["1|x"])
        }
    }

    /// A record within a deleted one is skipped, and replaces none that has its key elsewhere.
    @Test(.onEachStore, arguments: ["mirror", "upsert"])
    func whatIsWithinReplacesNothing(sync mode: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(
                request: "sync = \"\(mode)\"",
                lines: """
                    [[sources.s.requests.tables]]
                    table = "line"
                    element = "a/l"
                    key = ["n"]
                    columns = { n = "@n", article = { parent = "article" }, x = "@x" }
                    [[sources.s.requests.tables]]
                    table = "part"
                    element = "a/l/p"
                    key = ["n"]
                    columns = { n = "@n", line = { parent = "line" } }
                    """)
            _ = try await sync(fixture, "<a sku='1' name='A'><l n='8' x='0'/></a>", sources)
            let lines = { (x: String) in "<l n='8' x='\(x)'><p n='7'/></l><l n='9' x='\(x)'/>" }
            let living = "<a sku='1' name='A'>\(lines("there"))</a>"
            let deleted = "<a sku='2' status='deleted'>\(lines("gone"))</a>"
            for (number, document) in [living + deleted, deleted + living].enumerated() {
                let report = try await sync(fixture, document, sources)
                #expect(report.error == nil && report.counts.replaced == 0, "\(report)")
                #expect(report.counts.inserted == (number == 0 ? 2 : 0), "\(report)")
                #expect(report.counts.deleted == 0, "\(report)")
                let found = try fixture.rows("SELECT n, article, x FROM line ORDER BY n")
                #expect(found == ["8|1|there", "9|1|there"], "\(found)")
                #expect(try fixture.rows("SELECT n, line FROM part") == ["7|8"])
            }
        }
    }

    /// A page, or a request, has a record as deleted, and a later one has it again.
    @Test(.onEachStore, arguments: [true, false]) func whatIsWithinADeletedRecordIsLeftOut(arePages: Bool) async throws
    {
        try await EngineFixture.with { (fixture) async throws in
            let tables = """
                [[sources.s.requests.tables]]
                table = "p"
                element = "p"
                key = ["k"]
                deleted_when = "z = 'gone'"
                columns = { k = "@k", z = { path = "@z", stored = false } }
                [[sources.s.requests.tables]]
                table = "c"
                element = "p/c"
                key = ["k"]
                columns = { k = "@k", p = { parent = "p" } }

                """
            func request(_ path: String, _ options: String = "") -> String {
                "[[sources.s.requests]]\nurl = \"URL\(path)\"\n\(options)\n\(tables)"
            }
            let source =
                arePages ? request("/a", "page = { next = \"/r/next\" }") : request("/a") + request("/b")
            fixture.server.document("/b", "<r><p k='1'><c k='8'/></p></r>")
            let gone = "<p k='1' z='gone'><c k='7'/></p><p k='2'><c k='9'/></p>"
            let report = try await sync(fixture, gone + (arePages ? "<next>/b</next>" : ""), source)
            #expect(report.error == nil, "\(report)")
            #expect(try fixture.rows("SELECT k FROM p ORDER BY k") == ["1", "2"])
            #expect(try fixture.rows("SELECT k, p FROM c ORDER BY k") == ["8|1", "9|2"])
        }
    }

    /// The key of the outer record has several columns, so that only its number tells which record is within it.
    @Test(.onEachStore) func aDeletedRecordWithinADeletedOneReplacesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "p"
                element = "p"
                key = ["a", "b"]
                deleted_when = "z = 'gone'"
                columns = { a = "@a", b = "@b", z = { path = "@z", stored = false } }
                [[sources.s.requests.tables]]
                table = "c"
                element = "p/c"
                key = ["k"]
                deleted_when = "z = 'gone'"
                columns = { k = "@k", p = { parent = "p" }, z = { path = "@z", stored = false } }
                """
            let living = "<p a='1' b='x'><c k='1'/></p>"
            let gone = "<p a='2' b='y' z='gone'><c k='1' z='gone'/></p>"
            for document in [living + gone, gone + living] {
                let report = try await sync(fixture, document, source)
                #expect(report.error == nil, "\(report)")
                #expect(try fixture.rows("SELECT k, a FROM c JOIN p ON p.id = c.p") == ["1|1"])
            }
            #expect(try await sync(fixture, "<p a='1' b='x'><c k='1' z='gone'/></p>", source).counts.deleted == 1)
            #expect(try fixture.rows("SELECT count(*) FROM c") == ["0"])
        }
    }

    /// What is within a deleted record is deleted first, so that unique values are free, and inserted where it is now.
    @Test(.onEachStore, arguments: ["mirror", "upsert"])
    func whatMovesOutOfItIsInsertedAgain(sync mode: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.write(
                schema: """
                    CREATE TABLE IF NOT EXISTS p (k INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE);
                    CREATE TABLE IF NOT EXISTS c (
                        k INTEGER PRIMARY KEY, p INTEGER NOT NULL REFERENCES p ON DELETE CASCADE, note TEXT);
                    """)
            let source = """
                [[sources.s.requests]]
                url = "URL/a"
                sync = "\(mode)"
                max_deleted = 3
                [[sources.s.requests.tables]]
                table = "p"
                element = "p"
                key = ["k"]
                deleted_when = "z = 'gone'"
                columns = { k = "@k", code = "@code", z = { path = "@z", stored = false } }
                [[sources.s.requests.tables]]
                table = "c"
                element = "p/c"
                key = ["k"]
                columns = { k = "@k", p = { parent = "p" } }
                """
            _ = try await sync(fixture, "<p k='1' code='x'><c k='4'/><c k='5'/></p><p k='2' code='y'/>", source)
            try fixture.store.execute("UPDATE c SET note = 'mine'")
            let report = try await sync(
                fixture, "<p k='1' z='gone'/><p k='2' code='y'/><p k='3' code='x'><c k='4'/></p>", source)
            #expect(report.error == nil, "\(report)")
            #expect(report.counts == MergeCounts(inserted: 2, deleted: 3, unchanged: 1), "\(report)")
            #expect(try fixture.rows("SELECT k, code FROM p ORDER BY k") == ["2|y", "3|x"])
            #expect(try fixture.rows("SELECT k, p, coalesce(note, '-') FROM c") == ["4|3|-"])
        }
    }

    /// The limit is a part of the table's rows, not of those that the delta names.
    @Test(.onEachStore) func aSmallDeltaOfALargeTableIsWithinTheLimit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(Self.condition + "max_deleted = \"10%\"\n")
            let all = (1...100).map { "<a sku='\($0)' name='A'/>" }.joined()
            _ = try await sync(fixture, all, sources)
            func delta(_ numbers: ClosedRange<Int>) -> String {
                numbers.map { "<a sku='\($0)' status='deleted'/>" }.joined()
            }
            let report = try await sync(fixture, delta(1...5), sources)
            #expect(report.outcome == .committed && report.counts.deleted == 5, "\(report)")
            let blocked = try await sync(fixture, delta(6...25), sources)
            #expect(blocked.outcome == .blocked, "\(blocked)")
            #expect(blocked.error?.contains("would delete 20 of the 95 rows of table 'article'") == true, "\(blocked)")
        }
    }

    /// Only the key of a deleted record is read, so a delta of deletions lacks no column.
    @Test func aDeltaOfDeletionsIsNoDrift() async throws {
        try await EngineFixture.with { (fixture) async throws in
            _ = try await sync(fixture, "<a sku='1' name='A' status=''/><a sku='2' name='B' status=''/>")
            let report = try await sync(fixture, "<a sku='2' status='deleted'/>")
            #expect(report.outcome == .committed && report.note == nil, "\(report)")
        }
    }

    @Test(.onEachStore) func theyCountForTheLimit() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(Self.condition + "max_deleted = 1\n")
            _ = try await sync(fixture, "<a sku='1' name='A'/><a sku='2' name='B'/><a sku='3' name='C'/>", sources)
            let report = try await sync(
                fixture, "<a sku='1' status='deleted'/><a sku='2' status='deleted'/>", sources)
            #expect(report.outcome != .committed, "\(report)")
            #expect(try fixture.rows(Self.rows) == ["1|A", "2|B", "3|C"])
        }
    }

    /// The rows within a deleted record count towards the limit of their own table, whether or not that is mirrored.
    @Test(.onEachStore, arguments: ["mirror", "upsert"])
    func whatIsWithinCountsForTheLimit(sync mode: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.sources(
                request: "sync = \"\(mode)\"\nmax_deleted = 2",
                lines: """
                    [[sources.s.requests.tables]]
                    table = "line"
                    element = "a/l"
                    key = ["article", "n"]
                    columns = { article = { parent = "article" }, n = { ordinal = true } }
                    """)
            let others = "<a sku='2' name='B'><l/></a><a sku='3' name='C'/>"
            let first = try await sync(fixture, "<a sku='1' name='A'><l/><l/><l/><l/></a>" + others, sources)
            #expect(first.counts.inserted == 8, "\(first)")
            let report = try await sync(fixture, "<a sku='1' status='deleted'/>" + others, sources)
            #expect(report.outcome == .blocked, "\(report)")
            #expect(report.error?.contains("would delete 4 of the 5 rows of table 'line'") == true, "\(report)")
            #expect(report.error?.contains("of table 'article'") == false, "\(report)")
            #expect(try fixture.rows("SELECT count(*) FROM line") == ["5"])
        }
    }

    @Test(arguments: [
        (
            "deleted_when = \"statu = 'deleted'\"",
            "deleted_when: 'statu' is not a column of the record; did you mean 'status'?"
        ),
        (condition + "sync = \"insert\"", "deleted_when: requires sync = \"upsert\" or \"mirror\""),
        ("deleted = \"gone_at\"", "or 'deleted_when', or remove 'deleted'"),
    ])
    func aMistakeIsNamed(options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(Self.sources(options), expected)
    }
}
