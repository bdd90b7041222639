import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Requests to `sftp:`, `ftps:` and `ftp:` addresses, over real servers.
@Suite(.timeLimit(.minutes(5))) struct RemoteFileTests {
    static let kinds: [FileServer.Kind] =
        (FileServer.hasOpenSSH ? [.openSSH] : [])
        + (FileServer.hasProFTPD ? [.sftp, .ftp, .ftpWithTLS, .ftps] : [])

    @Test(.enabled(if: !RemoteFileTests.kinds.isEmpty), arguments: RemoteFileTests.kinds)
    func aFileIsFetchedOnlyWhereItHasChanged(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "sub/a b#1.xml")
            let sources = try fixture.sources("sub/a%20b%231.xml")
            try await fixture.expectRows(["1|A|"], sources)
            #expect(try await fixture.sync(sources).outcome == .unchanged)
            try fixture.write(RemoteFixture.document(1, "B"), to: "sub/a b#1.xml", minutes: 59)
            try await fixture.expectRows(["1|B|"], sources)
            // One that may change once more in the same second has no validator, and neither has one of the future: its digest shows
            // that it is the same.
            try fixture.write(RemoteFixture.document(1, "C"), to: "sub/a b#1.xml", minutes: -10)
            try await fixture.expectRows(["1|C|"], sources)
            let report = try await fixture.sync(sources)
            #expect(report.outcome == .unchanged, "\(report)")
            try await fixture.expectError("has no such file", of: try fixture.sources("sub/none.xml"))
        }
    }

    @Test(.enabled(if: !RemoteFileTests.kinds.isEmpty), arguments: RemoteFileTests.kinds)
    func largeAndCompressedFilesAndArchivesAreStreamed(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            let (text, rows) = RemoteFixture.large(20_000)
            try fixture.write(text, to: "large.xml")
            let report = try await fixture.sync(try fixture.sources("large.xml"))
            #expect(report.outcome == .committed, "\(report.error ?? "")")
            #expect(try fixture.engine.rows(RemoteFixture.rows).sorted() == rows.sorted())
            try fixture.write(Tar.compressed(RemoteFixture.document(1, "gz"), .gzip), to: "a.xml.gz")
            try await fixture.expectRows(["1|gz|"], try fixture.sources("a.xml.gz"))
            try fixture.write(
                Zip.archive([Zip.File(name: "in/z.xml", content: RemoteFixture.document(2, "zip"))]), to: "z.zip")
            try await fixture.expectRows(
                ["2|zip|in/z.xml"], try fixture.sources("z.zip", options: "documents = \"**/*.xml\""))
            try fixture.write("", to: "empty.xml")
            try await fixture.expectError("empty", of: try fixture.sources("empty.xml"))
            try await fixture.expectError(
                "larger than max_body, 100 KiB", of: try fixture.sources("large.xml", options: "max_body = \"100KiB\""))
        }
    }

    @Test(.enabled(if: !RemoteFileTests.kinds.isEmpty), arguments: RemoteFileTests.kinds)
    func theFilesOfAFolderAreOneCommit(_ kind: FileServer.Kind) async throws {
        try await RemoteFixture.with(kind) { fixture in
            try fixture.write(RemoteFixture.document(1, "A"), to: "in/a.xml")
            try fixture.write(Tar.compressed(RemoteFixture.document(2, "B"), .bzip2), to: "in/b ü'1.xml")
            try fixture.write(RemoteFixture.document(3, "old"), to: "in/old.xml", minutes: 60 * 24 * 9)
            try fixture.write("not XML", to: "in/README")
            try fixture.write("half of", to: "in/.a.xml")
            try fixture.write(RemoteFixture.document(4, "D"), to: "in/deep.xml/d.xml")
            try FileManager.default.createSymbolicLink(
                atPath: fixture.server.folder.file("in/link.xml"), withDestinationPath: "a.xml")
            let all = ["1|A|a.xml", "2|B|b ü'1.xml", "3|old|old.xml"]
            let sources = try fixture.sources("in/*.xml")
            try await fixture.expectRows(all, sources)
            #expect(try await fixture.sync(sources).outcome == .unchanged)
            try await fixture.expectRows(all, try fixture.sources("in/", options: "documents = \"*.xml\""))
            try await fixture.expectRows(
                Array(all.prefix(2)), try fixture.sources("in/*.xml", options: "newer_than = \"7d\""))
            try fixture.remove("in/a.xml")
            try await fixture.expectRows(Array(all.dropFirst()), sources)
            try await fixture.expectError(
                "no file of the folder matches '*.csv'", "'README'", of: try fixture.sources("in/*.csv"))
            try await fixture.expectError("folder", of: try fixture.sources("none/*.xml"))
        }
    }

    @Test(.enabled(if: !RemoteFileTests.kinds.isEmpty), arguments: RemoteFileTests.kinds)
    func aTransferThatBreaksOffLeavesNoRowsOrGoesOn(_ kind: FileServer.Kind) async throws {
        // The data of FTP go over connections of their own, whose ports the server chooses.
        guard [.openSSH, .sftp].contains(kind) else { return }
        try await RemoteFixture.with(kind) { fixture in
            let (text, rows) = RemoteFixture.large(20_000)
            try fixture.write(text, to: "a.xml")
            try await Relay.with(to: fixture.server.port, [.cut(after: 700_000)]) { relay in
                try await fixture.expectError("broke off", of: try fixture.sources("a.xml", port: relay.port))
            }
            try await Relay.with(to: fixture.server.port, [.cut(after: 700_000), .cut(after: 300_000)]) { relay in
                let report = try await fixture.sync(
                    try fixture.sources("a.xml", port: relay.port, options: "retries = 5\nresume = true"))
                #expect(report.outcome == .committed, "\(report.error ?? "")")
                #expect(try fixture.engine.rows(RemoteFixture.rows).sorted() == rows.sorted())
                #expect(relay.connections == 3)
            }
        }
    }

    @Test(.enabled(if: FileServer.hasOpenSSH))
    func aServerThatStallsIsGivenUp() async throws {
        try await RemoteFixture.with(.openSSH) { fixture in
            try fixture.write(RemoteFixture.large(20_000).text, to: "a.xml")
            try await Relay.with(to: fixture.server.port, [.stall(after: 700_000), .stall(after: 300)]) { relay in
                let sources = try fixture.sources("a.xml", port: relay.port, options: "timeout = \"4s\"")
                try await fixture.expectError("the body was not complete within 4 s", of: sources)
                try await fixture.expectError("no connection within", of: sources)
            }
            try await Relay.with(to: fixture.server.port, [.stall(after: 700_000)]) { relay in
                let sources = try fixture.sources("a.xml", port: relay.port)
                let run = Task { try await fixture.sync(sources) }
                await relay.untilStalled()
                run.cancel()
                // A transfer that had waited for its time limit would be discarded, with that error.
                if case .success(let report) = await run.result { #expect(report.outcome == .cancelled, "\(report)") }
            }
        }
    }
}
