import Crypto
import FeedDeclarations
import Foundation
import HTTPTypes
import Hummingbird

/// Lets in those who may see the daemon, and lets those change something whose page is the daemon's own.
///
/// - With a token: those who give it as a bearer (RFC 6750), or as the password of any user (RFC 7617), which browsers
///   ask for. Without one: those who name this machine by an address or as `localhost`. A name of somebody else's that
///   leads here (DNS rebinding) is refused. Those with the token for reading change nothing.
/// - A POST must come from the page itself: its `Origin` (RFC 6454) is the host that it goes to. One with a bearer comes
///   from no page, which could not send it unasked, and needs no `Origin`.
struct AccessGuard: RouterMiddleware {
    private let token: SHA256.Digest?
    /// The token of those who change nothing.
    private let readToken: SHA256.Digest?

    init(token: String?, readToken: String? = nil) {
        func digest(_ text: String) -> SHA256.Digest { SHA256.hash(data: Data(text.utf8)) }
        self.token = token.map(digest)
        self.readToken = readToken.map(digest)
    }

    @concurrent
    func handle(
        _ request: Request, context: PageContext, next: @concurrent (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        // Asked by those who watch over the process; it tells nothing of the sources.
        if request.uri.path == "/healthz" { return try await next(request, context) }
        var context = context
        let changesSomething = request.method != .get && request.method != .head
        if let token {
            let given = given(request).map { SHA256.hash(data: Data($0.utf8)) }
            if changesSomething, let readToken, given == readToken {
                return Response.refusal(
                    of: request, .forbidden, "The 'read_token' of [daemon] cannot change anything; use 'token'.")
            }
            context.mayChange = given == token
            guard let given, given == token || given == readToken else {
                return Response.refusal(
                    of: request, .unauthorized,
                    "Send the token of [daemon] as the password of any user, or as a bearer token.",
                    [.wwwAuthenticate: "Basic realm=\"Tributary\", charset=\"UTF-8\""])
            }
        } else if !request.namesThisMachine {
            return Response.refusal(
                of: request, .misdirectedRequest,
                "Without a 'token' in [daemon], the host must be an IP address or 'localhost'.")
        }
        if changesSomething, !isFromOwnPage(request), !isProgram(request) {
            return Response.refusal(
                of: request, .forbidden,
                "A POST must have this daemon's address as its Origin, or the token as a bearer token.")
        }
        return try await next(request, context)
    }

    private func given(_ request: Request) -> String? {
        guard let header = request.headers[.authorization], let space = header.firstIndex(of: " ") else { return nil }
        let value = header[header.index(after: space)...].trimmingCharacters(in: .whitespaces)
        switch header[..<space].lowercased() {
        case "bearer": return value
        case "basic":
            guard let data = Data(base64Encoded: value) else { return nil }
            let pair = String(decoding: data, as: UTF8.self)
            return pair.firstIndex(of: ":").map { String(pair[pair.index(after: $0)...]) }
        default: return nil
        }
    }

    /// True for a request with a bearer, which has been checked, and without an `Origin`.
    private func isProgram(_ request: Request) -> Bool {
        token != nil && request.headers[.origin] == nil
            && request.headers[.authorization]?.lowercased().hasPrefix("bearer ") == true
    }

    private func isFromOwnPage(_ request: Request) -> Bool {
        guard let authority = request.head.authority?.lowercased(), !authority.isEmpty,
            let origin = request.headers[.origin]?.lowercased()
        else { return false }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }
}

/// A request and what its sender may do.
struct PageContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// False for the holder of the `read_token`.
    var mayChange = true

    init(source: ApplicationRequestContextSource) { coreContext = CoreRequestContextStorage(source: source) }
}

extension Request {
    /// True where it is sent to an address or to `localhost`, with a port or without: to no name of somebody else's that
    /// leads here (DNS rebinding).
    var namesThisMachine: Bool {
        guard let host = head.authority?.lowercased().wholeMatch(of: /(\[[0-9a-f:.]+\]|[a-z0-9.]+)(:[0-9]+)?/)?.1 else {
            return false
        }
        return host == "localhost" || IPAddress(host: String(host)) != nil
    }
}
