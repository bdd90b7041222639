import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching

/// Versions of TLS that clients offer.
@Suite(.timeLimit(.minutes(2))) struct TLSVersionTests {
    /// Returns the versions that a client offers to a server (RFC 8446, section 4.2.1).
    private func versions(_ connect: @Sendable (_ url: String) async throws -> Void) async throws -> Set<Int> {
        let (listener, port) = try LoopbackSocket.listening()
        async let connecting: Void = connect("https://127.0.0.1:\(port)/")
        let client = try #require(
            await withCheckedContinuation { continuation in
                Thread.detachNewThread { continuation.resume(returning: listener.accepted()) }
            })
        var hello: [UInt8] = []
        while hello.count < 5 || hello.count < 5 + Self.number(hello, 3) {
            let bytes = client.receive()
            if bytes.isEmpty { break }
            hello += bytes
        }
        client.end()
        listener.end()
        try await connecting
        return Self.versions(in: hello)
    }

    private static func number(_ bytes: [UInt8], _ offset: Int) -> Int {
        Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    private static func versions(in hello: [UInt8]) -> Set<Int> {
        // The record, the message, the version and the random bytes, then the session, the ciphers and the compression.
        var offset = 5 + 4 + 2 + 32
        offset += 1 + Int(hello[offset])
        offset += 2 + number(hello, offset)
        offset += 1 + Int(hello[offset])
        let end = offset + 2 + number(hello, offset)
        offset += 2
        while offset + 4 <= end {
            let (type, length) = (number(hello, offset), number(hello, offset + 2))
            if type == 43 {
                return Set(stride(from: offset + 5, to: offset + 4 + length, by: 2).map { number(hello, $0) })
            }
            offset += 4 + length
        }
        return []
    }

    private static let modern: Set = [0x0303, 0x0304]
    /// Values without a meaning, which test servers (RFC 8701).
    private static let reserved = Set((0..<16).map { $0 << 12 | 0x0A00 | $0 << 4 | 0x0A })

    @Test func requestsOfferNothingBefore12() async throws {
        try await EngineFixture.with { (fixture) async throws in
            for tls in [
                "", "tls = { ca = \"\(try fixture.folder.write(TestCertificate.certificate, to: "ca.pem"))\" }",
            ] {
                let offered = try await versions { url in
                    let source = "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\n\(tls)\n"
                    let report = try await fixture.sync(source).first
                    #expect(report?.outcome == .discarded)
                }
                #expect(offered.subtracting(Self.reserved) == Self.modern)
            }
        }
    }

    /// The server prefers HTTP/2, and would answer with it.
    @Test func requestsOfferNoHTTP2() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try fixture.folder.write(TestCertificate.certificate, to: "ca.pem")
            try await withTLSStubServer(EngineFixture.items(["1"])) { server in
                let source = "[[sources.s.requests]]\nurl = \"\(server.url)/\"\nparser = \"ItemsParser\"\n"
                let report = try await fixture.sync(source + "tls = { ca = \"ca.pem\" }\n").first
                #expect(report?.outcome == .committed, "\(report?.error ?? "")")
            }
        }
    }

    @Test func webhooksOfferNothingBefore12() async throws {
        let offered = try await versions { url in
            let client = WebhookClient()
            await #expect(throws: FetchError.self) {
                try await client.post(
                    Data(), id: "m", to: InterpolatedText(url), secret: nil, timeout: .seconds(60), now: Date())
            }
            try await client.shutdown()
        }
        #expect(offered.subtracting(Self.reserved) == Self.modern)
    }
}
