import HTTPTypes
import Hummingbird
import Logging
import NIOHTTP1

/// What browsers may do with every answer: run our script and style, ask us, and nothing else (Content Security Policy
/// Level 3). The script makes elements of texts by one policy of its own (Trusted Types).
struct SecurityHeaders<Context: RequestContext>: RouterMiddleware {
    let logger: Logger

    private static var policy: String {
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
            + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'; "
            + "require-trusted-types-for 'script'; trusted-types tributary"
    }

    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response: Response
        do {
            response = try await next(request, context)
        } catch let error as HTTPError where error.status == .notFound {
            response = Response.refusal(
                of: request, .notFound, "This address does not exist, or does not accept \(request.method).")
        } catch let error as any HTTPResponseError {
            response = try error.response(from: request, context: context)
        } catch let error as HTTPParserError {
            // Hummingbird answers 400 itself, and closes the connection.
            throw error
        } catch {
            try Task.checkCancellation()
            logger.error("A request failed", metadata: ["path": "\(request.uri.path)", "error": "\(error)"])
            response = Response.refusal(
                of: request, .internalServerError, "The request failed; the log gives the reason.")
        }
        response.headers[.contentSecurityPolicy] = Self.policy
        response.headers[.xContentTypeOptions] = "nosniff"
        response.headers[.referrerPolicy] = "same-origin"
        if response.headers[.cacheControl] == nil { response.headers[.cacheControl] = "no-store" }
        return response
    }
}

extension HTTPField.Name {
    // Tokens in the sense of RFC 9110.
    static let host = HTTPField.Name("Host")!
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")!
}
