package import FeedConfiguration
package import FeedModel
package import Foundation
import NIOHTTP1
import XMLStream

/// Dates of header fields (RFC 9110, section 5.6.7).
package enum HTTPDate {
    package static func parse(_ text: String) -> Date? {
        var text = text.withoutOuterSpace
        return text.withUTF8 { Lexical.date($0) }
    }
}

extension StringProtocol {
    /// The text without spaces and tabs at its ends (OWS; RFC 9110, section 5.6.3).
    var withoutOuterSpace: Substring {
        var text = Substring(self).unicodeScalars
        while text.first == " " || text.first == "\t" { text.removeFirst() }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return Substring(text)
    }
}

/// Whole seconds of header fields (RFC 9111, section 1.2.2).
enum HTTPSeconds {
    /// Returns the seconds; nil if the text is not a number. Accepts a fraction, which some servers write, and limits
    /// the value to a century.
    static func parse(_ text: String) -> Double? {
        let text = text.withoutOuterSpace
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) || $0 == UInt8(ascii: ".") }),
            let seconds = Double(text)
        else { return nil }
        return min(seconds, longest)
    }

    private static let longest: Double = 36_525 * 86_400
}

/// Lists of header fields (RFC 9110, section 5.6.1).
enum HTTPList {
    /// Returns the texts between commas outside of quoted strings.
    static func elements(of text: String) -> [Substring] {
        var isQuoted = false
        var isEscaped = false
        return text.split { character in
            defer { isEscaped = isQuoted && character == "\\" && !isEscaped }
            if character == "\"", !isEscaped { isQuoted.toggle() }
            return character == "," && !isQuoted
        }
    }
}

package enum HTTPReason {
    /// Returns a status with its standard phrase, such as `404 Not Found`. A status without one is its number.
    package static func text(_ status: Int) -> String {
        let phrase = HTTPResponseStatus(statusCode: status).reasonPhrase
        return phrase.isEmpty ? "\(status)" : "\(status) \(phrase)"
    }
}

/// The wait of an origin whose server is busy.
package struct RequestedWait: Sendable, Equatable {
    package var origin: Origin
    /// The status of the answer that requested it; nil if unknown.
    package var status: Int?
    /// Its end; nil without a valid Retry-After.
    package var end: Date?

    package init(origin: Origin, status: Int? = nil, end: Date? = nil) {
        (self.origin, self.status, self.end) = (origin, status, end)
    }
}

/// The wait that a server requests with Retry-After (RFC 9110, section 10.2.3; RFC 6585, section 4).
package enum RetryAfter {
    /// The statuses of a busy server.
    package static let statuses: Set = [429, 503]

    /// The longest wait; longer ones are limited to it.
    package static let longest = Duration.seconds(7 * 86_400)

    /// Returns the end of the wait; nil without a valid Retry-After.
    package static func end(of response: FeedResponse, at now: Date) -> Date? {
        response[header: "Retry-After"].flatMap { end(of: $0, at: now) }
    }

    /// - Parameter header: the value of the header.
    static func end(of header: String, at now: Date) -> Date? {
        let seconds = HTTPSeconds.parse(header) ?? HTTPDate.parse(header)?.timeIntervalSince(now)
        guard let seconds, seconds > 0 else { return nil }
        return now + min(seconds, longest.seconds)
    }
}

/// Decides which headers of a request are kept when a response redirects it or names its address.
enum HeaderPolicy {
    /// The headers without secrets. All others may have values that are declared for the source's own hosts.
    private static let publicNames: Set = [
        "accept", "accept-encoding", "accept-language", "if-modified-since", "if-none-match", "if-range", "range",
        "user-agent",
    ]

    /// Returns true if a header may go to another origin.
    static func mayLeaveOrigin(_ name: String) -> Bool { publicNames.contains(name.lowercased()) }

    /// Returns true if a header describes the request's body, which a redirect to GET drops (RFC 9110, section 15.4).
    static func describesBody(_ name: String) -> Bool {
        let name = name.lowercased()
        return name.hasPrefix("content-")
            || ["digest", "expect", "last-modified", "soapaction", "transfer-encoding"].contains(name)
    }
}

extension HTTPHeaders {
    /// Returns the headers that may go to another origin.
    func leavingOrigin() -> HTTPHeaders { filtered(HeaderPolicy.mayLeaveOrigin) }

    /// Returns the headers of a request that has lost its body.
    func withoutBody() -> HTTPHeaders { filtered { !HeaderPolicy.describesBody($0) } }

    private func filtered(_ isKept: (String) -> Bool) -> HTTPHeaders {
        HTTPHeaders(filter { isKept($0.name) }.map { ($0.name, $0.value) })
    }
}

extension [String: InterpolatedText] {
    /// Returns the declared headers that may go to another origin.
    func leavingOrigin() -> Self { filter { HeaderPolicy.mayLeaveOrigin($0.key) } }
}
