import Foundation
import Synchronization

/// Passes connections on to a server, and does to their bytes what a bad network does.
package final class Relay: Sendable {
    package enum Fault: Sendable {
        /// The connection breaks off after as many bytes from the server.
        case cut(after: Int)
        /// Nothing comes any more after as many bytes from the server.
        case stall(after: Int)
        /// What the client sends is changed.
        case edit(@Sendable ([UInt8]) -> [UInt8])
    }

    private struct State {
        var faults: [Fault]
        var sockets: [LoopbackSocket] = []
        var connections = 0
        var stalled: [CheckedContinuation<Void, Never>] = []
        var isStalled = false
    }

    package let port: Int
    private let target: Int
    private let listener: LoopbackSocket
    private let state: Mutex<State>

    /// How many connections there were.
    package var connections: Int { state.withLock(\.connections) }

    /// - Parameter faults: of the first connection, the second, and so on; those after them have none.
    package static func with(to port: Int, _ faults: [Fault], _ body: (Relay) async throws -> Void) async throws {
        let relay = try Relay(to: port, faults)
        defer { relay.end() }
        try await body(relay)
    }

    private init(to port: Int, _ faults: [Fault]) throws {
        let (socket, own) = try LoopbackSocket.listening()
        listener = socket
        self.port = own
        target = port
        state = Mutex(State(faults: faults))
        Thread.detachNewThread { [self] in
            while let client = listener.accepted() { serve(client) }
            listener.end()
        }
    }

    /// Waits until a connection stalls.
    package func untilStalled() async {
        await withCheckedContinuation { continuation in
            let isStalled = state.withLock { state in
                if !state.isStalled { state.stalled.append(continuation) }
                return state.isStalled
            }
            if isStalled { continuation.resume() }
        }
    }

    private func end() {
        listener.shutDown()
        for socket in state.withLock(\.sockets) { socket.shutDown() }
    }

    private func serve(_ client: LoopbackSocket) {
        guard let server = try? LoopbackSocket(connectedTo: target) else { return client.end() }
        let fault = state.withLock { state in
            state.sockets += [client, server]
            state.connections += 1
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        Thread.detachNewThread { [self] in
            let isDone = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                while case let bytes = client.receive(), !bytes.isEmpty {
                    if case .edit(let change)? = fault {
                        server.sendAll(change(bytes)[...])
                    } else {
                        server.sendAll(bytes[...])
                    }
                }
                for socket in [client, server] { socket.shutDown() }
                isDone.signal()
            }
            passAnswers(from: server, to: client, fault)
            for socket in [client, server] { socket.shutDown() }
            // Descriptors stay open until both threads are done with them.
            isDone.wait()
            state.withLock { state in
                state.sockets.removeAll { [client.descriptor, server.descriptor].contains($0.descriptor) }
            }
            for socket in [client, server] { socket.end() }
        }
    }

    private func passAnswers(from server: LoopbackSocket, to client: LoopbackSocket, _ fault: Fault?) {
        var passed = 0
        while case let bytes = server.receive(), !bytes.isEmpty {
            switch fault {
            case .cut(let limit)? where passed + bytes.count >= limit:
                return client.sendAll(bytes.prefix(max(0, limit - passed)))
            case .stall(let limit)? where passed + bytes.count >= limit:
                client.sendAll(bytes.prefix(max(0, limit - passed)))
                let waiting = state.withLock { state in
                    defer { state.stalled = [] }
                    state.isStalled = true
                    return state.stalled
                }
                for continuation in waiting { continuation.resume() }
                while case let rest = server.receive(), !rest.isEmpty {}
                return
            default: client.sendAll(bytes[...])
            }
            passed += bytes.count
        }
    }
}
