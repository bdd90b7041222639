import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// The limits of `infer` and `init`.
@Suite(.timeLimit(.minutes(3))) struct InferenceLimitTests {
    @Test func aDocumentThatIsTooLargeIsRefused() async throws {
        try await withStubServer { (server) async throws in
            server.route("/a") { _ in StubServer.response(200, Gzip.bomb, ["Content-Type": "application/xml"]) }
            await #expect {
                _ = try await Inference(of: server.url + "/a", limit: 1 << 20).proposal(.init())
            } throws: { "\($0)".contains("the document is larger than 1 MiB, decompressed") }
        }
    }

    @Test func aDocumentThatDoesNotEndIsGivenUp() async throws {
        try await withStubServer { (server) async throws in
            server.route("/a") { _ in
                [StubServer.head(200, ["Content-Type": "application/xml"]), .send(Array("<items>".utf8)), .hang]
            }
            let clock = ManualClock()
            let end = clock.now() + 300
            let inferring = Task { try await Inference(of: server.url + "/a", clock: clock).proposal(.init()) }
            while server.requests("/a").isEmpty || !clock.wakes.contains(end) {
                try await Task.sleep(for: .milliseconds(2))
            }
            clock.advance(by: 300)
            await #expect {
                _ = try await inferring.value
            } throws: { "\($0)".contains("the document was not read within 300 s") }
        }
    }
}
