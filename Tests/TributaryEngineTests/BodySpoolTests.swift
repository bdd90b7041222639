import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// Bodies without validators, of which the digest says whether they are those of last time.
@Suite struct BodySpoolTests {
    private static func items(_ count: Int, name: String = "n") -> String {
        let text = count < 100 ? name : name + String(repeating: "x", count: 8_000)
        return EngineFixture.items((0..<count).map { String(format: "%06d", $0) }, name: text)
    }

    /// The second one is larger than what is kept in memory.
    @Test(arguments: [3, 200], [false, true])
    func theSameBodyIsNotParsedAgain(count: Int, isCompressed: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            func serve(_ text: String) {
                fixture.server.route("/a") { _ in
                    let body = isCompressed ? Gzip.compressed(text) : Array(text.utf8)
                    return StubServer.response(200, body, isCompressed ? ["Content-Encoding": "gzip"] : [:])
                }
            }
            let source = EngineFixture.request("/a", "sync = \"mirror\"")
            serve(Self.items(count))
            #expect(try await fixture.sync(source).first?.counts.inserted == count)
            let again = try await fixture.sync(source).first
            #expect(again?.outcome == .unchanged && again?.bytes == Self.items(count).utf8.count)
            serve(Self.items(count - 1, name: "m"))
            let changed = try await fixture.sync(source).first
            #expect(changed?.counts.updated == count - 1 && changed?.counts.deleted == 1)
            #expect(try await fixture.sync(source).first?.outcome == .unchanged)
            let files = try? FileManager.default.contentsOfDirectory(atPath: fixture.storePath + "-work")
            #expect(files?.contains { $0.hasPrefix("body-") } != true)
        }
    }

    @Test(arguments: ["<items><item id='1'>", String(repeating: " ", count: 200_000) + "<items/>"])
    func whatIsWrongWithABodyIsSaidAsBefore(body: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = EngineFixture.request("/a", "max_body = \"100KiB\"")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try await fixture.sync(source)
            fixture.server.document("/a", body)
            let report = try await fixture.sync(source).first
            let expected = body.count > 100_000 ? "100.0 KiB" : "line 1"
            #expect(
                report?.outcome == .discarded && report?.error?.isEmpty == false,
                "\(expected): \(String(describing: report))")
            #expect(try fixture.rows("SELECT id FROM item") == ["1"])
        }
    }
}
