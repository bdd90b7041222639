import HTTPTypes
import Hummingbird
import NIOCore
import TributaryEngine

extension Response {
    static func text(_ status: HTTPResponse.Status, _ text: String, _ headers: HTTPFields = [:]) -> Response {
        response(status, text, "text/plain; charset=utf-8", headers)
    }

    static func html(_ status: HTTPResponse.Status, _ html: String) -> Response {
        response(status, html, "text/html; charset=utf-8")
    }

    static func file(_ text: String, _ format: FileFormat) -> Response { response(.ok, text, format.contentType) }

    static func json(_ json: String, _ status: HTTPResponse.Status = .ok) -> Response {
        response(status, json + "\n", "application/json")
    }

    /// The reason of a refusal (RFC 9457), also as the member `error`.
    private struct Problem: Encodable {
        var type = "about:blank"
        var title: String
        var status: Int
        var detail: String
        var error: String

        init(_ status: HTTPResponse.Status, _ reason: String) {
            title = status.reasonPhrase
            self.status = status.code
            detail = reason
            error = reason
        }
    }

    /// Returns a refusal; for requests under `/api`, as an object.
    static func refusal(
        of request: Request, _ status: HTTPResponse.Status, _ reason: String, _ headers: HTTPFields = [:]
    ) -> Response {
        guard request.uri.path.hasPrefix("/api/") || request.uri.path == "/api",
            let json = try? JSONOutput.line(Problem(status, reason))
        else {
            return text(status, reason + "\n", headers)
        }
        return response(status, json + "\n", "application/problem+json", headers)
    }

    /// Sends a browser on to a page, which it asks for by GET (RFC 9110, 15.4.4).
    static func seeOther(_ location: String) -> Response {
        Response(status: .seeOther, headers: [.location: location])
    }

    private static func response(
        _ status: HTTPResponse.Status, _ text: String, _ type: String, _ headers: HTTPFields = [:]
    ) -> Response {
        var headers = headers
        headers[.contentType] = type
        return Response(status: status, headers: headers, body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
    }
}
