package import FeedConfiguration
import FeedModel
import Foundation

/// The missing part of a body whose transfer broke off, and the range request for it (RFC 9110, section 14.2).
///
/// Requires a strong validator: an entity tag, or else a time of the last change (section 8.8).
package struct BodyRest {
    /// The number of bytes received, as sent.
    private let offset: Int
    private let first: Exchange
    private let validator: String

    /// - Parameters:
    ///   - first: the response whose body broke off.
    ///   - offset: the number of bytes received, as sent.
    /// - Returns: nil if no range request is possible.
    package init?(of first: Exchange, to request: RequestDeclaration, after offset: Int) {
        let response = first.response
        guard request.resumes, request.method == "GET", response.status == 200, !first.origin.isFile,
            !request.hasHeader("Range"), response[header: "Accept-Ranges"]?.lowercased() != "none", offset > 0,
            let validator = Self.validator(of: response)
        else { return nil }
        self.offset = offset
        self.first = first
        self.validator = validator
    }

    private static func validator(of response: FeedResponse) -> String? {
        // Omits an entity tag that cannot be sent back.
        if response[header: "ETag"] != nil { return response.validators.etag.flatMap { $0.hasPrefix("\"") ? $0 : nil } }
        // A document that changed in the second of the response may change again within it.
        guard let text = response.validators.lastModified, let modified = HTTPDate.parse(text),
            let date = response[header: "Date"].flatMap(HTTPDate.parse), date.timeIntervalSince(modified) >= 1
        else { return nil }
        return text
    }

    /// Returns the request for the rest.
    package func request(_ request: RequestDeclaration) -> RequestDeclaration {
        var request = request
        request.headers["Range"] = InterpolatedText("bytes=\(offset)-")
        request.headers["If-Range"] = InterpolatedText(validator)
        return request
    }

    /// Checks that a response is the complete rest of the same version.
    ///
    /// - Returns: the size of the whole body.
    /// - Throws: ``FetchError`` if the body must be read from its beginning.
    package func check(_ rest: Exchange) throws -> Int {
        let response = rest.response
        func different(_ found: String) -> FetchError {
            FetchError(
                .truncated,
                "\(response.requestedURL): the transfer broke off after \(offset) bytes and cannot go on: \(found)")
        }
        guard response.status == 206 else {
            let reason = response.status == 200 ? ", as it has another version, or knows no ranges" : ""
            throw different("the server answered \(response.status) to a request for the rest\(reason)")
        }
        guard Self.place(response.url) == Self.place(first.response.url) else {
            throw different("another address answered")
        }
        // Only an equal validator shows that both parts are of one version (RFC 9110, section 15.3.7.3).
        let needed = first.response[header: "ETag"] == nil ? "Last-Modified" : "ETag"
        for name in ["ETag", "Last-Modified", "Content-Encoding"] {
            let (own, former) = (response[header: name], first.response[header: name])
            guard own == former || own == nil && name != needed && name != "Content-Encoding" else {
                throw different("its \(name) differs from before")
            }
        }
        let text = response[header: "Content-Range"] ?? ""
        guard let range = text.wholeMatch(of: /\s*bytes\s+(\d+)-(\d+)\/(\d+|\*)\s*/.ignoresCase()),
            Int(range.1) == offset, let last = Int(range.2), last >= offset, last < .max
        else { throw different("its Content-Range is '\(text.shortened(to: 100))'") }
        // Without a length, nothing shows that the body ends there.
        guard let total = Int(range.3) ?? first.announcedBytes, total == last + 1,
            first.announcedBytes ?? total == total
        else {
            throw different("its Content-Range, '\(text.shortened(to: 100))', does not end with the body")
        }
        return last + 1
    }

    /// Returns an address without its query, which redirects may change each time, as for a signature.
    private static func place(_ address: String) -> Substring { address.prefix { $0 != "?" && $0 != "#" } }
}
