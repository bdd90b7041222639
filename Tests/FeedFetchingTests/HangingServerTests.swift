import Dispatch
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestSupport
import Testing
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// File servers and files that do not answer.
@Suite(.timeLimit(.minutes(3))) struct HangingServerTests {
    private static func source(_ name: String, _ url: String) -> String {
        "[[sources.\(name).requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\ntimeout = \"1h\"\n"
    }

    private func wait(until isTrue: () -> Bool) async throws {
        while !isTrue() { try await Task.sleep(for: .milliseconds(2)) }
    }

    @Test func serversThatStopWithinAFileHoldNoSlot() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await HangingFTPServer.with { first in
                try await HangingFTPServer.with { second in
                    fixture.server.document("/z", EngineFixture.items(["1"]))
                    let sources =
                        "[daemon]\nconcurrency = 2\n" + Self.source("a1", "ftp://127.0.0.1:\(first.port)/a.xml")
                        + Self.source("a2", "ftp://127.0.0.1:\(second.port)/a.xml")
                        + EngineFixture.request("/z", of: "z")
                    let service = try fixture.service(sources, clock: SystemClock())
                    let running = Task { try await service.run() }
                    try await wait { first.hasStopped && second.hasStopped }
                    // The source may have run before the servers stopped.
                    let before = fixture.server.requests("/z").count
                    service.refresh(["z"])
                    try await wait { fixture.server.requests("/z").count > before }
                    running.cancel()
                    try? await running.value
                    try service.store.close()
                }
            }
        }
    }

    /// A file on a server whose reads never return.
    private struct HangingFile: BodySource {
        let end: DispatchSemaphore

        var size: Int? { nil }

        func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
            end.wait()
        }
    }

    private func limiting(_ operation: @escaping @Sendable (ExchangeClock) async throws -> Void) async throws {
        let clock = SystemClock()
        var request = Inference.request("file:///a.xml", limit: 1)
        request.timeout = .milliseconds(200)
        let exchange = ExchangeClock(uptime: { clock.uptime })
        try await exchange.limiting(request, by: clock) { try await operation(exchange) }
    }

    @Test func aReadThatNeverReturnsEndsAtTheTimeout() async throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        let exchange = Exchange.source(.at("file:///a.xml"), HangingFile(end: end))
        await #expect {
            try await limiting { clock in
                clock.hasReceived(0)
                try await exchange.forEachPiece { _ in }
            }
        } throws: { "\($0)".contains("the body was not complete within 0.2 s") }
    }

    @Test func aStatusThatNeverReturnsEndsAtTheTimeout() async throws {
        let end = DispatchSemaphore(value: 0)
        defer { end.signal() }
        await #expect {
            try await limiting { clock in
                clock.isOpening()
                try await BlockingWork.run { _ in end.wait() }
            }
        } throws: { "\($0)".contains("the file system did not answer within 0.2 s") }
    }

    @Test func workOfACancelledTaskDoesNotBegin() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await BlockingWork.run { _ in
                Issue.record("it began")
                return
            } as Void
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

/// An FTP server that sends a part of a file, and then nothing.
private final class HangingFTPServer: Sendable {
    let port: Int
    private let listener: LoopbackSocket
    private let state = Mutex((sockets: [LoopbackSocket](), hasStopped: false))

    /// True once a part of a file has been sent.
    var hasStopped: Bool { state.withLock { $0.hasStopped } }

    static func with(_ body: (HangingFTPServer) async throws -> Void) async throws {
        let server = try HangingFTPServer()
        defer { server.stop() }
        try await body(server)
    }

    private init() throws {
        (listener, port) = try LoopbackSocket.listening()
        Thread.detachNewThread { [self] in
            while let client = listener.accepted() {
                state.withLock { $0.sockets.append(client) }
                Thread.detachNewThread { self.serve(client) }
            }
            listener.end()
        }
    }

    private func stop() {
        listener.shutDown()
        for socket in state.withLock({ $0.sockets }) { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        var data: LoopbackSocket?
        func answer(_ text: String) { client.sendAll(Array((text + "\r\n").utf8)[...]) }
        answer("220 ready")
        var received = ""
        while case let bytes = client.receive(), !bytes.isEmpty {
            received += String(decoding: bytes, as: UTF8.self)
            while let end = received.firstRange(of: "\r\n") {
                let command = received[..<end.lowerBound].prefix { $0 != " " }.uppercased()
                received.removeSubrange(..<end.upperBound)
                switch command {
                case "USER": answer("331 password")
                case "PASS": answer("230 logged in")
                case "PWD": answer("257 \"/\"")
                case "CWD": answer("250 done")
                case "TYPE": answer("200 done")
                case "MDTM": answer("213 20260101000000")
                case "SIZE": answer("213 100000")
                case "REST": answer("350 done")
                case "EPSV":
                    guard let (socket, port) = try? LoopbackSocket.listening() else { return }
                    data = socket
                    answer("229 passive (|||\(port)|)")
                case "RETR":
                    answer("150 data")
                    guard let connection = data?.accepted() else { return }
                    connection.sendAll(Array("<items><item id='1'>".utf8)[...])
                    state.withLock { state in
                        state.sockets.append(connection)
                        state.hasStopped = true
                    }
                default: answer("500 unknown")
                }
            }
        }
    }
}
