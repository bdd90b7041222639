import FeedConfiguration
import Foundation

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
