import HTTPTypes
import Hummingbird
import NIOCore

/// Refuses bodies: everything that is asked is in the address.
struct FormLimit<Context: RequestContext>: RouterMiddleware {
    /// Browsers send none, or the few bytes of a button.
    private static var mostBytes: Int { 1_024 }

    @concurrent
    func handle(
        _ request: Request, context: Context, next: @concurrent (Request, Context) async throws -> Response
    ) async throws -> Response {
        var request = request
        do {
            _ = try await request.collectBody(upTo: Self.mostBytes)
        } catch is NIOTooManyBytesError {
            return Response.text(.contentTooLarge, "No request needs a body.\n")
        }
        return try await next(request, context)
    }
}
