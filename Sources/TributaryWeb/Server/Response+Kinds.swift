import Hummingbird
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

    /// Returns a refusal; for requests under `/api`, as an object (RFC 9457) that has the reason also as the member `error`.
    static func refusal(
        of request: Request, _ status: HTTPResponse.Status, _ reason: String, _ headers: HTTPFields = [:]
    ) -> Response {
        let problem: JSONObject = [
            "type": "about:blank", "title": status.reasonPhrase, "status": status.code, "detail": reason,
            "error": reason,
        ]
        guard request.uri.path.hasPrefix("/api/") || request.uri.path == "/api",
            let json = try? JSONOutput.line(problem)
        else {
            return text(status, reason + "\n", headers)
        }
        return response(status, json + "\n", "application/problem+json", headers)
    }

    static func object(_ object: some Encodable) throws -> Response { .json(try JSONOutput.line(object)) }

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
