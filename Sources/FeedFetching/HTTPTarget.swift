package import FeedDeclarations
import FeedModel
import Foundation
import NIOHTTP1

/// The next address of a request, with what is sent there.
package struct HTTPTarget {
    var url: URL
    var method: String
    var body: String?
    private var declared: [String: InterpolatedText]

    package var origin: String { url.origin }

    /// Returns the address without user and password, to be shown. Its other secrets are still to be removed.
    ///
    /// - Parameter hasQuery: false where the query may be a secret that nobody has declared.
    package func shown(withQuery hasQuery: Bool) -> String {
        let address = url.absoluteString.withoutUserInfo
        return hasQuery ? address : String(address.prefix { $0 != "?" })
    }

    /// Creates the target of a request. Its parameters go into the query, or form-encoded into the body if the method
    /// has one and the request declares none.
    package init(_ request: RequestDeclaration) throws {
        method = request.method
        declared = request.headers
        body = request.body?.text.value
        let address = try Self.address(of: request)
        guard var components = URLComponents(url: address, resolvingAgainstBaseURL: true) else {
            throw FetchError(.address, "\(request.url) is not a URL")
        }
        if !request.parameters.isEmpty {
            let pairs = Self.form(request.parameters.mapValues(\.value))
            if body == nil, ["POST", "PUT", "PATCH"].contains(method) {
                body = pairs
                if !declared.keys.contains(where: { $0.lowercased() == "content-type" }) {
                    declared["Content-Type"] = InterpolatedText("application/x-www-form-urlencoded")
                }
            } else {
                let query = components.percentEncodedQuery.flatMap { $0.isEmpty ? nil : $0 + "&" } ?? ""
                components.percentEncodedQuery = query + pairs
            }
        }
        components.fragment = nil
        guard let url = components.url else { throw FetchError(.address, "\(request.url) is not a URL") }
        self.url = url
    }

    private static func address(of request: RequestDeclaration) throws -> URL {
        do {
            return try request.address()
        } catch {
            throw FetchError(.address, "\(request.url) cannot be used: \(error)")
        }
    }

    func headers(_ validators: Validators) -> HTTPHeaders {
        var headers = HTTPHeaders()
        for (name, value) in declared.sorted(by: { $0.key < $1.key }) { headers.add(name: name, value: value.value) }
        if !headers.contains(name: "User-Agent") { headers.add(name: "User-Agent", value: HTTPFetcher.userAgent) }
        if !headers.contains(name: "Accept-Encoding") { headers.add(name: "Accept-Encoding", value: "gzip, deflate") }
        if let etag = validators.etag { headers.add(name: "If-None-Match", value: etag) }
        if let modified = validators.lastModified { headers.add(name: "If-Modified-Since", value: modified) }
        return headers
    }

    /// Removes what was declared for another origin.
    mutating func dropSecrets() { declared = declared.leavingOrigin() }

    /// Returns the target of a response's redirect (RFC 9110, section 15.4); nil if it is not one.
    func redirected(by status: Int, to location: String?, request: String) throws -> HTTPTarget? {
        guard [301, 302, 303, 307, 308].contains(status) else { return nil }
        guard let location, !location.isEmpty else {
            throw FetchError(.redirect, "\(request) answers \(status) without a Location")
        }
        let address: WebAddress
        do {
            address = try WebAddress(location, relativeTo: url)
        } catch {
            throw FetchError(.redirect, "\(request) answers \(status) with a Location that cannot be used: \(error)")
        }
        if url.scheme?.lowercased() == "https", address.url.scheme?.lowercased() == "http" {
            throw FetchError(.redirect, "\(request) redirects from https to http, which is refused")
        }
        var target = self
        target.url = address.url
        if status == 303 || (method == "POST" && status < 303) {
            target.method = method == "HEAD" ? "HEAD" : "GET"
            target.body = nil
        }
        return target
    }

    /// Returns names and values encoded as a query or a form.
    static func form(_ fields: [String: String]) -> String {
        fields.sorted { $0.key < $1.key }.map { "\($0.key.percentEncoded)=\($0.value.percentEncoded)" }.joined(
            separator: "&")
    }

    /// Returns the value of an Authorization header for Basic (RFC 7617).
    static func basic(_ user: String, _ password: String) -> String {
        "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }
}
