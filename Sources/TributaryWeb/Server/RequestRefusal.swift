import HTTPTypes
import Hummingbird
import NIOHTTP1

/// Refuses requests that no client of ours sends, and closes their connections:
///
/// - With a body: everything that is asked is in the address, and whoever sends a body byte by byte would hold a connection
///   for as long as he likes. Forms with texts are excepted; who reads them limits the time.
/// - With several `Host` headers (RFC 9112, section 3.2): what is in front of the daemon may have decided by another one.
struct RequestRefusal<Context: RequestContext>: RouterMiddleware {
    /// The most bytes of the bodies of forms, by their paths.
    var forms: [String: Int] = [:]

    /// - Throws: `HTTPParserError`, on which Hummingbird answers 400 and closes the connection.
    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        // The button of a form without fields sends a body of no bytes (RFC 9110, section 8.6).
        let length = request.headers[.contentLength] ?? "0"
        let most = request.method == .post ? forms[request.uri.path] ?? 0 : 0
        guard let count = Int(length), (0...most).contains(count), request.headers[.transferEncoding] == nil,
            request.headers[.expect] == nil,
            // The first is the request's authority, and no header any more.
            request.headers[.host] == nil
        else { throw HTTPParserError.unknown }
        return try await next(request, context)
    }
}
