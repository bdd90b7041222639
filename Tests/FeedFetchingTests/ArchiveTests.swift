import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import TestEngine
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Bodies that are ZIP archives.
@Suite struct ArchiveTests {
    private static let feed = EngineFixture.items((0..<500).map(String.init))

    /// What a decoder makes of a body that arrives in pieces of this size.
    private func decoded(_ body: [UInt8], pieces: Int, limit: Int = 1 << 20) throws -> String {
        let decoder = try BodyDecoder(contentEncoding: nil, limit: limit)
        var text: [UInt8] = []
        for start in stride(from: 0, to: body.count, by: pieces) {
            try body[start..<min(start + pieces, body.count)].withUnsafeBytes { piece in
                try decoder.decode(piece) { text += $0 }
            }
        }
        try decoder.finish { text += $0 }
        return String(decoding: text, as: UTF8.self)
    }

    @Test(arguments: [1, 7, 64, 1 << 20])
    func oneFileOfAnyForm(pieces: Int) throws {
        for (isDeflated, hasDescriptor) in [(true, false), (true, true), (false, false)] {
            let file = Zip.File(
                name: "feed.xml", content: Self.feed, isDeflated: isDeflated, hasDescriptor: hasDescriptor)
            #expect(try decoded(Zip.archive([file]), pieces: pieces) == Self.feed)
        }
        let file = Zip.File(name: "export/feed.xml", content: Self.feed)
        for folder in [
            Zip.File(name: "export/", content: "", isDeflated: false),
            Zip.File(name: "export/", content: "", hasDescriptor: true),
        ] { #expect(try decoded(Zip.archive([folder, file]), pieces: pieces) == Self.feed) }
    }

    @Test func whatIsWrongIsSaid() throws {
        func message(_ body: [UInt8], limit: Int = 1 << 20) -> String {
            do {
                _ = try decoded(body, pieces: 50, limit: limit)
                return ""
            } catch {
                return "\(error)"
            }
        }
        let file = Zip.File(name: "a.xml", content: Self.feed)
        let archive = Zip.archive([file])
        #expect(
            message(Zip.archive([file, Zip.File(name: "b.xml", content: "<b/>")])).contains("'b.xml' is the second"))
        #expect(message(Zip.archive([])).isEmpty, "an end record alone is no archive, and left to the XML parser")
        #expect(message(archive, limit: 100).contains("larger than max_body"))
        #expect(message(Array(archive.dropLast(30))).contains("ended before its last byte"))
        #expect(message(Array(archive.prefix(80))).contains("ended before its last byte"))
        var damaged = archive
        damaged[14] ^= 1
        #expect(message(damaged).contains("CRC-32"))
        var encrypted = archive
        encrypted[6] |= 1
        #expect(message(encrypted).contains("is encrypted"))
        // A ZIP64 size that no signed number holds.
        let huge: [UInt8] =
            [0x50, 0x4B, 3, 4, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] + [UInt8](repeating: 0xFF, count: 8)
            + [1, 0, 20, 0] + [UInt8(ascii: "a"), 1, 0, 16, 0] + [UInt8](repeating: 0xFF, count: 16) + [1, 2, 3]
        #expect(message(huge).contains("not a valid ZIP"))
        let stored = Zip.File(name: "s.xml", content: Self.feed, isDeflated: false, hasDescriptor: true)
        #expect(message(Zip.archive([stored])).contains("neither deflated nor stored"))
    }

    @Test(arguments: [1, 7, 1 << 20])
    func zerosAfterGzipAreSkipped(pieces: Int) throws {
        let whole = Gzip.compressed(Self.feed)
        let padded = whole + [UInt8](repeating: 0, count: 512)
        #expect(try decoded(padded, pieces: pieces) == Self.feed)
        #expect(try decoded(padded + whole, pieces: pieces) == Self.feed + Self.feed)
        for rest in [Array("more".utf8), [0, 0, 1], [0x1F, 0x20, 0, 0]] {
            #expect {
                _ = try decoded(whole + rest, pieces: pieces)
            } throws: { "\($0)".contains("ends after \(Self.feed.utf8.count) decompressed bytes") }
        }
    }

    @Test func aServedArchiveIsCommitted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let archive = Zip.archive([Zip.File(name: "feed.xml", content: Self.feed, hasDescriptor: true)])
            fixture.server.route("/feed.zip") { _ in
                StubServer.response(200, archive, ["Content-Type": "application/zip"])
            }
            let report = try await fixture.sync(EngineFixture.request("/feed.zip")).first
            #expect(report?.counts.inserted == 500, "\(String(describing: report))")
        }
    }
}
