import FeedConfiguration
import FeedModel
import Foundation
import NIOHTTP1

/// The exchange of a request for a response, as a value that takes events and returns the next step.
///
/// It has no task, clock or connection; ``HTTPFetcher`` performs the steps. Redirects follow RFC 9110, section 15.4;
/// refused tokens follow RFC 6750, section 3.1. ``Resends`` decides whether a message without an answer is sent again.
struct HTTPExchange {
    /// What to do next.
    enum Step {
        /// Get a token for a client, and call ``authorize(_:isNew:)``. `refused` is a token that the server refused.
        case authenticate(ClientCredentials, refused: TokenStore.Token?)
        /// Send a message and call ``receive(status:location:from:)``.
        case send(Message)
        /// Pass the response on.
        case finish(Result)
    }

    struct Message: Equatable {
        var url: URL
        var origin: Origin
        var method: String
        var headers: HTTPHeaders
        var body: String?
        /// The provenance of the address; nil if it may be any.
        var provenance: AddressProvenance?
        /// The address whose host named this one, if the provenance lacks that host's address.
        var namedBy: URL?
    }

    struct Result: Equatable {
        var url: URL
        var origin: Origin
        /// The address of permanent redirects; nil without redirects, or with temporary ones.
        var movedTo: String?
    }

    /// The most redirects followed for one request.
    static let redirectLimit = 5

    private let request: PreparedRequest
    private let validators: Validators
    private let movedTo: String?
    /// The target of the request as it is declared.
    private let declared: HTTPTarget
    private var target: HTTPTarget
    private var headers: HTTPHeaders
    private var provenance: AddressProvenance?
    private var namedBy: URL?
    private var isPermanent = true
    private var redirects = 0
    private var token: (value: TokenStore.Token, isNew: Bool)?

    /// - Parameter movedTo: the address of permanent redirects; nil for the declared one.
    init(_ request: PreparedRequest, validators: Validators, movedTo: String?) {
        self.request = request
        self.validators = validators
        self.movedTo = movedTo
        declared = HTTPTarget(request)
        target = declared
        headers = HTTPHeaders()
    }

    // MARK: - Steps

    /// Returns the first step.
    mutating func begin() -> Step {
        if case .oauth2(let client) = request.authentication { return .authenticate(client, refused: nil) }
        return start()
    }

    /// - Parameter isNew: true if the token was issued for this exchange; a refusal is then final.
    mutating func authorize(_ token: TokenStore.Token, isNew: Bool) -> Step {
        self.token = (token, isNew || self.token != nil)
        return start()
    }

    /// Takes the head of an answer.
    ///
    /// - Parameter from: the address that sent it; nil if unknown.
    /// - Throws: ``FetchError`` for a redirect that is not followed.
    mutating func receive(status: Int, location: String?, from: IPAddress?) throws -> Step {
        // A signature is for one address.
        if case .s3 = request.authentication { return .finish(Result(url: target.url, origin: target.origin)) }
        let redirected = try target.redirected(
            by: status, to: location, request: "\(request.method) \(request.url)")
        guard let redirect = redirected else {
            // After a redirect to another origin, the message has no token.
            if status == 401, headers.contains(name: "Authorization"), let token, !token.isNew,
                case .oauth2(let client) = request.authentication
            {
                return .authenticate(client, refused: token.value)
            }
            // A POST that has become a GET is not the same request.
            let isMoved = isPermanent && target.url != declared.url && target.method == declared.method
            let movedTo = isMoved ? target.url.absoluteString : nil
            return .finish(Result(url: target.url, origin: target.origin, movedTo: movedTo))
        }
        isPermanent = isPermanent && [301, 308].contains(status)
        if redirect.origin != target.origin {
            guard redirect.body == nil else {
                throw FetchError(
                    .redirect, "\(request.url) redirects its \(request.method) to another origin, which is refused")
            }
            headers = headers.leavingOrigin()
        }
        if redirect.method != target.method { headers = headers.withoutBody() }
        guard redirects < Self.redirectLimit else {
            throw FetchError(.redirect, "\(request.url) redirects more than \(Self.redirectLimit) times")
        }
        redirects += 1
        provenance = AddressProvenance(namer: "a redirect of \(target.origin)", origin: target.origin, from: from)
        namedBy = nil
        target = redirect
        return .send(message())
    }

    // MARK: - Messages

    /// Returns the first message: to the declared address, or to that of a permanent redirect. Another origin receives
    /// no secrets. A request with a body goes to its declared address.
    private mutating func start() -> Step {
        target = declared
        headers = HTTPHeaders(request.headers.map { ($0.name, $0.value) })
        provenance = request.provenance
        namedBy = nil
        isPermanent = true
        redirects = 0
        if let movedTo, let address = try? WebAddress(movedTo) {
            target.url = address.url
            if target.origin != declared.origin {
                if target.body == nil { headers = headers.leavingOrigin() } else { target = declared }
            }
            if target.origin.host != declared.origin.host {
                provenance = AddressProvenance(
                    namer: "the permanent redirect of \(request.url)", origin: declared.origin, from: nil)
                namedBy = declared.url
            }
        }
        if let etag = validators.etag { headers.add(name: "If-None-Match", value: etag) }
        if let modified = validators.lastModified { headers.add(name: "If-Modified-Since", value: modified) }
        if let authorization, target.origin == declared.origin {
            headers.replaceOrAdd(name: "Authorization", value: authorization)
        }
        return .send(message())
    }

    private var authorization: String? {
        switch request.authentication {
        case nil: nil
        case .basic(let user, let password, _): HTTPTarget.basic(user.value, password.value)
        case .bearer(let token): "Bearer \(token.value)"
        case .oauth2: token.map { "Bearer \($0.value.value)" }
        case .ssh, .s3: nil
        }
    }

    private mutating func message() -> Message {
        if request.allowsPrivate || provenance?.admitsAll(of: target.origin) ?? false { provenance = nil }
        return Message(
            url: target.url, origin: target.origin, method: target.method, headers: headers, body: target.body,
            provenance: provenance,
            namedBy: namedBy)
    }
}

/// The target of an exchange's next message.
struct HTTPTarget {
    var url: URL { didSet { origin = url.origin } }
    private(set) var origin: Origin
    var method: String
    var body: String?

    init(_ request: PreparedRequest) {
        url = request.address
        origin = request.origin
        method = request.method
        body = request.body
    }

    /// Returns the target of a response's redirect (RFC 9110, section 15.4); nil if it is not one.
    func redirected(by status: Int, to location: String?, request: @autoclosure () -> String) throws -> HTTPTarget? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        guard let location, !location.isEmpty else {
            throw FetchError(.redirect, "\(request()): the server answered \(status) without a Location")
        }
        let address: WebAddress
        do {
            address = try WebAddress(location, relativeTo: url)
        } catch {
            throw FetchError(
                .redirect, "\(request()): the server answered \(status) with a Location that cannot be used: \(error)")
        }
        if url.scheme?.lowercased() == "https", address.url.scheme?.lowercased() == "http" {
            throw FetchError(.redirect, "\(request()): the server redirects from https to http, which is refused")
        }
        var target = self
        target.url = address.url
        if status == 303 || (method == "POST" && status < 303) {
            target.method = method == "HEAD" ? "HEAD" : "GET"
            target.body = nil
        }
        return target
    }

    /// Returns the value of an Authorization header for Basic (RFC 7617).
    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
