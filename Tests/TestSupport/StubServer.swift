import Foundation
import Synchronization

/// An HTTP/1.1 server on a loopback port that the kernel chooses, which answers as it is told, faults included.
package final class StubServer: Sendable {
    package struct Request: Sendable {
        package var method: String
        package var path: String
        package var query: String
        /// Names in lower case.
        package var headers: [String: String]
        package var body: String
        /// The request line and the headers as they came.
        package var head: [UInt8]
        /// The request's number on its connection, from 1.
        package var number: Int
    }

    /// What is done for one request, step by step.
    package enum Step: Sendable {
        case send([UInt8])
        /// The same bytes again and again, with a pause, until the client hangs up or the server stops.
        case drip([UInt8], every: Double)
        /// Nothing more, until the client hangs up or the server stops.
        case hang
        /// A TCP reset instead of an orderly end.
        case reset
        case close
    }

    private struct State {
        var routes: [String: @Sendable (Request) -> [Step]] = [:]
        /// The answer on paths without a route.
        var others: (@Sendable (Request) -> [Step])?
        var requests: [Request] = []
        var connections: Set<Int32> = []
        var isStopped = false
    }

    private let listener: Int32
    package let port: Int
    private let state = Mutex(State())

    package init() throws {
        signal(SIGPIPE, SIG_IGN)
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0 && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(.EADDRNOTAVAIL) }
        self.listener = listener
        port = Int(UInt16(bigEndian: address.sin_port))
        Thread.detachNewThread { [self] in acceptConnections() }
    }

    package func stop() {
        // Under the lock, as closing is: a number that has been closed may already be another test's connection.
        state.withLock { state in
            state.isStopped = true
            for connection in state.connections { shutdown(connection, Int32(SHUT_RDWR)) }
        }
        // From here on nobody can connect, and `accept` fails.
        shutdown(listener, Int32(SHUT_RDWR))
    }

    package var url: String { "http://127.0.0.1:\(port)" }

    package func route(_ path: String, _ answer: @escaping @Sendable (Request) -> [Step]) {
        state.withLock { $0.routes[path] = answer }
    }

    /// Answers on all paths without a route.
    package func routeOthers(_ answer: @escaping @Sendable (Request) -> [Step]) {
        state.withLock { $0.others = answer }
    }

    /// Every request so far, in the order in which they came; only those for a path, if one is given.
    package func requests(_ path: String? = nil) -> [Request] {
        state.withLock { $0.requests.filter { path == nil || $0.path == path } }
    }

    private func acceptConnections() {
        // Closed by whoever accepts: else the number might be another server's listener by the next call.
        defer { close(listener) }
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { return }
            _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
            // A head and its body are sent one after the other: without, the body waits 40 ms for the head's acknowledgement.
            var isOn: Int32 = 1
            setsockopt(connection, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
            let isStopped = state.withLock { state in
                if !state.isStopped { state.connections.insert(connection) }
                return state.isStopped
            }
            if isStopped { close(connection) } else { Thread.detachNewThread { [self] in serve(connection) } }
        }
    }

    private func serve(_ connection: Int32) {
        defer {
            state.withLock { state in
                state.connections.remove(connection)
                _ = close(connection)
            }
        }
        var number = 0
        while var request = readRequest(connection) {
            number += 1
            request.number = number
            let steps =
                state.withLock { state in
                    state.requests.append(request)
                    return state.routes[request.path] ?? state.others
                }?(request) ?? Self.response(404, "")
            for step in steps {
                guard perform(step, connection) else { return }
            }
        }
    }

    private func perform(_ step: Step, _ connection: Int32) -> Bool {
        switch step {
        case .send(let bytes):
            return send(bytes, connection)
        case .drip(let bytes, let pause):
            while send(bytes, connection) {
                // The client's hanging up ends the pause.
                var poll = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
                if Glibc.poll(&poll, 1, Int32(pause * 1000)) != 0 { return false }
            }
            return false
        case .hang:
            var poll = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            _ = Glibc.poll(&poll, 1, -1)
            return false
        case .reset:
            var linger = linger(l_onoff: 1, l_linger: 0)
            setsockopt(connection, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<Glibc.linger>.size))
            return false
        case .close:
            return false
        }
    }

    private func send(_ bytes: [UInt8], _ connection: Int32) -> Bool {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(connection, $0.baseAddress! + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    private func readRequest(_ connection: Int32) -> Request? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 8192)
        var end: Int?
        while end == nil {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            bytes += buffer[..<count]
            end = Data(bytes).range(of: Data("\r\n\r\n".utf8))?.upperBound
        }
        let lines = String(decoding: bytes[..<end!], as: UTF8.self).components(separatedBy: "\r\n")
        let parts = lines[0].split(separator: " ")
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            headers[line[..<colon].lowercased()] = line[line.index(after: colon)...].trimmingCharacters(
                in: .whitespaces)
        }
        var body = Array(bytes[end!...])
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        while body.count < length {
            let count = read(connection, &buffer, buffer.count)
            guard count > 0 else { return nil }
            body += buffer[..<count]
        }
        let target = parts[1].split(separator: "?", maxSplits: 1)
        return Request(
            method: String(parts[0]), path: String(target[0]), query: target.count > 1 ? String(target[1]) : "",
            headers: headers, body: String(decoding: body, as: UTF8.self), head: Array(bytes[..<end!]), number: 1)
    }
}

/// Runs a body with a server, and stops the server after it.
package func withStubServer<Value>(_ body: (StubServer) async throws -> Value) async throws -> Value {
    let server = try StubServer()
    defer { server.stop() }
    return try await body(server)
}
