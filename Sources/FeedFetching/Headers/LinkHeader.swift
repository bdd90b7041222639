package import FeedModel

/// Reads Link headers (RFC 8288, section 3).
package enum LinkHeader {
    /// Returns the target of the first link with the relation `next`, as written; nil without one. Ignores links with
    /// an anchor, which are links of another document.
    package static func next(in response: FeedResponse) -> String? {
        for header in response.headers where header.name.lowercased() == "link" {
            for link in links(header.value) {
                guard link.parameters["anchor"] == nil, let relations = link.parameters["rel"] else { continue }
                if relations.lowercased().split(whereSeparator: \.isWhitespace).contains("next") { return link.target }
            }
        }
        return nil
    }

    /// Returns a header that ends within a link; nil if there is none.
    package static func unreadable(in response: FeedResponse) -> String? {
        response.headers.first { header in
            guard header.name.lowercased() == "link", let start = header.value.lastIndex(of: "<") else { return false }
            return !header.value[start...].contains(">")
        }?.value
    }

    /// The links of one header, as far as it follows the grammar.
    private static func links(_ header: String) -> [(target: String, parameters: [String: String])] {
        var links: [(target: String, parameters: [String: String])] = []
        var rest = header[...]
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            let target = rest[rest.index(after: start)..<end].trimmingPrefix(while: \.isWhitespace)
            rest = rest[rest.index(after: end)...]
            links.append((String(target), parameters(&rest)))
        }
        return links
    }

    /// Consumes the parameters of a link, `; rel="next"; title=…`, up to the comma that ends it. Of two with one name,
    /// the first counts (RFC 8288, section 3.3).
    private static func parameters(_ rest: inout Substring) -> [String: String] {
        var parameters: [String: String] = [:]
        while let separator = rest.firstIndex(where: { !$0.isWhitespace }), rest[separator] == ";" {
            rest = rest[rest.index(after: separator)...].trimmingPrefix(while: \.isWhitespace)
            let name = rest.prefix { !"=;,".contains($0) && !$0.isWhitespace }
            rest = rest[name.endIndex...].trimmingPrefix(while: \.isWhitespace)
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().trimmingPrefix(while: \.isWhitespace)
                if rest.first == "\"" { value = quoted(&rest) } else { value = token(&rest) }
            }
            if parameters[name.lowercased()] == nil { parameters[name.lowercased()] = value }
        }
        return parameters
    }

    private static func token(_ rest: inout Substring) -> String {
        let token = rest.prefix { !";,".contains($0) && !$0.isWhitespace }
        rest = rest[token.endIndex...]
        return String(token)
    }

    /// Consumes a quoted string (RFC 9110, section 5.6.4).
    private static func quoted(_ rest: inout Substring) -> String {
        var text = ""
        rest = rest.dropFirst()
        while let character = rest.popFirst(), character != "\"" {
            if character == "\\", let escaped = rest.popFirst() { text.append(escaped) } else { text.append(character) }
        }
        return text
    }
}
