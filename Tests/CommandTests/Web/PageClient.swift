import Foundation

/// Asks a daemon's page over a plain socket: headers are sent and seen as they are.
struct PageClient: Sendable {
    struct Answer: Sendable {
        var status: Int
        /// Names in lower case.
        var headers: [String: String]
        var body: String
    }

    struct Failure: Error { var code: Int32 }

    let port: Int

    var authority: String { "127.0.0.1:\(port)" }

    func get(_ path: String, _ headers: [String: String] = [:]) async throws -> Answer {
        try await send("GET", path, headers)
    }

    /// Presses a button; again while the daemon says that the source is running, because the rows of a run can be read
    /// before the run has ended.
    ///
    /// - Parameter origin: the page that the button is on; the daemon's own for nil.
    func post(_ path: String, origin: String? = nil, _ headers: [String: String] = [:]) async throws -> Answer {
        let origin = ["Origin": origin ?? "http://\(authority)", "Content-Length": "0"]
        while true {
            let answer = try await send("POST", path, origin.merging(headers) { $1 })
            guard answer.status == 503, answer.body.contains("Busy: try again") else { return answer }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    /// Sends the fields of a form, as a browser does from the daemon's own page.
    func post(_ path: String, form: [String: String], _ headers: [String: String] = [:]) async throws -> Answer {
        var allowed = CharacterSet.alphanumerics
        allowed.insert(charactersIn: "-._")
        let body = form.map { name, value in
            name + "=" + (value.addingPercentEncoding(withAllowedCharacters: allowed) ?? "")
        }.joined(separator: "&")
        let own = [
            "Origin": "http://\(authority)", "Content-Type": "application/x-www-form-urlencoded",
            "Content-Length": "\(body.utf8.count)",
        ]
        return try await send("POST", path, own.merging(headers) { $1 }, body: body)
    }

    func send(
        _ method: String, _ path: String, _ headers: [String: String], body: String = ""
    ) async throws -> Answer {
        let head = ["Host": authority, "Connection": "close"].merging(headers) { $1 }
        let named = head.map { "\($0.key): \($0.value)\r\n" }.joined()
        let text = "\(method) \(path) HTTP/1.1\r\n\(named)\r\n\(body)"
        var received = ""
        // Not every server closes the connection.
        for try await part in open(text) {
            received += part
            if Self.isWhole(received) { break }
        }
        let parts = received.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = parts[0].split(separator: "\r\n")
        let fields = lines.dropFirst().map { $0.split(separator: ":", maxSplits: 1) }
        let headers = Dictionary(
            fields.map { ($0[0].lowercased(), $0.count > 1 ? $0[1].trimmingCharacters(in: .whitespaces) : "") }
        ) { first, _ in first }
        let sent = parts.count > 1 ? String(parts[1]) : ""
        return Answer(
            status: lines.first.flatMap { Int($0.split(separator: " ").dropFirst().first ?? "") } ?? 0,
            headers: headers, body: headers["transfer-encoding"] == "chunked" ? Self.joined(sent) : sent)
    }

    /// Returns a body that came in chunks (RFC 9112, section 7.1).
    private static func joined(_ chunks: String) -> String {
        var rest = Array(chunks.utf8)[...]
        var body: [UInt8] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\r")),
            let size = Int(String(decoding: rest[..<end], as: UTF8.self), radix: 16), size > 0,
            rest.endIndex >= end + 2 + size
        {
            body += rest[(end + 2)..<(end + 2 + size)]
            rest = rest[(end + 2 + size)...].dropFirst(2)
        }
        return String(decoding: body, as: UTF8.self)
    }

    private static func isWhole(_ received: String) -> Bool {
        if received.hasSuffix("\r\n0\r\n\r\n") { return true }
        guard let end = received.range(of: "\r\n\r\n"),
            let match = received[..<end.lowerBound].firstMatch(of: /(?i)content-length: *(\d+)/),
            let length = Int(match.1)
        else { return false }
        return received[end.upperBound...].utf8.count >= length
    }

    /// The lines of a stream of events as they come, chunk sizes among them.
    func events(_ path: String, _ headers: [String: String] = [:]) -> AsyncThrowingStream<String, any Error> {
        let named = headers.map { "\($0.key): \($0.value)\r\n" }.joined()
        return open("GET \(path) HTTP/1.1\r\nHost: \(authority)\r\n\(named)\r\n")
    }

    private func open(_ request: String) -> AsyncThrowingStream<String, any Error> {
        let (stream, continuation) = AsyncThrowingStream<String, any Error>.makeStream()
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        continuation.onTermination = { _ in shutdown(descriptor, Int32(SHUT_RDWR)) }
        Thread.detachNewThread { [port] in
            defer { close(descriptor) }
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = in_port_t(port).bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            let isConnected = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                }
            }
            guard isConnected, Glibc.send(descriptor, request, request.utf8.count, Int32(MSG_NOSIGNAL)) > 0 else {
                return continuation.finish(throwing: Failure(code: errno))
            }
            var buffer = [UInt8](repeating: 0, count: 65_536)
            var rest: [UInt8] = []
            while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
                rest += buffer[..<count]
                // A character may be cut in two.
                guard let text = String(validating: rest, as: UTF8.self) else { continue }
                continuation.yield(text)
                rest = []
            }
            continuation.finish()
        }
        return stream
    }
}
