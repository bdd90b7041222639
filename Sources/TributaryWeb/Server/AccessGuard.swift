import FeedModel
import FeedConfiguration
import Foundation
import HTTPTypes
import Hummingbird

/// Lets in those who may see the daemon, and lets those change something whose page is the daemon's own.
///
/// - With a token: those who give it as a bearer (RFC 6750), or as the password of any user (RFC 7617), which browsers
///   ask for. Without one: those who name this machine by an address or as `localhost`. A name of somebody else's that
///   leads here (DNS rebinding) is refused. Those with the token for reading change nothing.
///   A reload that changes a token changes it here at once.
/// - A POST must come from the page itself: its `Origin` (RFC 6454) is the host that it goes to. One with a bearer comes
///   from no page, which could not send it unasked, and needs no `Origin`.
struct AccessGuard: RouterMiddleware {
    /// Returns the tokens of the present configuration.
    let tokens: @Sendable () -> AccessTokens

    @concurrent
    func handle(
        _ request: Request, context: PageContext, next: @concurrent (Request, PageContext) async throws -> Response
    ) async throws -> Response {
        // Asked by those who watch over the process; it tells nothing of the sources.
        if request.uri.path == "/healthz" { return try await next(request, context) }
        var context = context
        let known = tokens()
        context.isAllowed = { [tokens] in tokens() == known }
        let changesSomething = request.method != .get && request.method != .head
        guard !known.isMissing else {
            return Response.refusal(
                of: request, .forbidden,
                "The daemon listens beyond this machine, and [daemon] has no 'token' any more. Restart the daemon.")
        }
        if let token = known.token {
            let given = given(request).map(AccessTokens.digest)
            if changesSomething, let readToken = known.readToken, given == readToken {
                return Response.refusal(
                    of: request, .forbidden, "The 'read_token' of [daemon] cannot change anything; use 'token'.")
            }
            context.mayChange = given == token
            guard let given, given == token || given == known.readToken else {
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
        if changesSomething, !isFromOwnPage(request), known.token == nil || !isProgram(request) {
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

    /// Returns true for a request with a bearer, which has been checked, and without an `Origin`.
    private func isProgram(_ request: Request) -> Bool {
        request.headers[.origin] == nil
            && request.headers[.authorization]?.lowercased().hasPrefix("bearer ") == true
    }

    private func isFromOwnPage(_ request: Request) -> Bool {
        guard let authority = request.head.authority?.lowercased(), !authority.isEmpty,
            let origin = request.headers[.origin]?.lowercased()
        else { return false }
        return origin == "http://\(authority)" || origin == "https://\(authority)"
    }
}

/// The digests of the tokens with which clients are let in.
struct AccessTokens: Sendable, Equatable {
    let token: SHA256.Digest?
    /// The digest of the token that only allows to read.
    let readToken: SHA256.Digest?
    /// True if a daemon that listens beyond this machine has no token since a reload.
    let isMissing: Bool

    /// - Parameters:
    ///   - declaration: that of the present configuration; nil if it declares no page any more.
    ///   - address: the address at which the daemon listens since its start.
    init(_ declaration: WebDeclaration?, listeningAt address: ListenAddress) {
        token = (declaration?.token?.value).map(Self.digest)
        readToken = (declaration?.readToken?.value).map(Self.digest)
        isMissing = token == nil && !address.isLoopback
    }

    static func digest(_ text: String) -> SHA256.Digest { SHA256.digest(of: Data(text.utf8)) }
}

/// A request and what its sender may do.
struct PageContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// False for the holder of the `read_token`.
    var mayChange = true
    /// Returns false once a reload has changed the tokens: a stream of events ends then.
    var isAllowed: @Sendable () -> Bool = { true }

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
