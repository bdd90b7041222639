import HTTPTypes
import Hummingbird
import NIOHTTP1

/// Refuses requests with a body, and closes their connections: everything that is asked is in the address, and whoever
/// sends a body byte by byte would hold a connection for as long as he likes.
struct BodyRefusal<Context: RequestContext>: RouterMiddleware {
    /// - Throws: `HTTPParserError`, on which Hummingbird answers 400 and closes the connection.
    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The button of a form without fields sends a body of no bytes (RFC 9110, section 8.6).
        let length = request.headers[.contentLength] ?? "0"
        guard length == "0", request.headers[.transferEncoding] == nil, request.headers[.expect] == nil else {
            throw HTTPParserError.unknown
        }
        return try await next(request, context)
    }
}
