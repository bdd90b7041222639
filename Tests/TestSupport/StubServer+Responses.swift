import Foundation

extension StubServer {
    /// A whole response with its length.
    package static func response(_ status: Int, _ body: String, _ headers: [String: String] = [:]) -> [Step] {
        response(status, Array(body.utf8), headers)
    }

    package static func response(_ status: Int, _ body: [UInt8], _ headers: [String: String] = [:]) -> [Step] {
        [head(status, headers.merging(["Content-Length": "\(body.count)"]) { first, _ in first }), .send(body)]
    }

    /// A response's head and nothing else.
    package static func head(_ status: Int, _ headers: [String: String]) -> Step {
        let lines = headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)\r\n" }.joined()
        return .send(Array("HTTP/1.1 \(status) Status\r\n\(lines)\r\n".utf8))
    }

    /// A document with an entity tag: 304 for whoever has it, 200 for everybody else.
    package func document(_ path: String, _ body: String, etag: String? = nil, type: String = "application/xml") {
        route(path) { request in
            guard let etag else { return Self.response(200, body, ["Content-Type": type]) }
            if request.headers["if-none-match"] == etag { return [Self.head(304, ["ETag": etag])] }
            return Self.response(200, body, ["Content-Type": type, "ETag": etag])
        }
    }
}
