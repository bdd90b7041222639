package import XMLStream

/// Finds the place of a document that names a further page of the same list: an address, a continuation token, or a mark
/// that there is more. It knows the names that common protocols and APIs use, and ignores names that occur more than once,
/// which are data.
///
/// Used from one thread at a time, as the parser is.
package final class NextPageWatch: XMLStreamHandler {
    /// The place of a further page.
    package struct Hint: Sendable, Equatable {
        package enum Kind: Sendable {
            case address, token
            /// True where there is more; how to ask for it is elsewhere.
            case mark
        }

        package var kind: Kind
        /// The path of the element or attribute, from the root.
        package var path: String

        /// The key of the request that follows the pages, as TOML; nil if the document does not show how.
        package var key: String? {
            switch kind {
            case .address: "page = { next = \(TOMLText.string(path)) }"
            case .token: "page = { token = \(TOMLText.string(path)), parameter = \"…\" }"
            case .mark: nil
            }
        }
    }

    /// The deepest element that is looked at: envelopes of pages are near the root.
    private static let depths = 2...5
    /// The most places. A document with more of them has data of these names.
    private static let mostPlaces = 20

    /// Names in lower case, without `_`, `-`, `.` and `@`.
    private static let addresses: Set<String> = [
        "next", "nexturl", "nexthref", "nextlink", "nextpageurl", "nextpagelink", "odatanextlink",
    ]
    private static let tokens: Set<String> = [
        "resumptiontoken", "nexttoken", "nextpagetoken", "nextcursor", "nextmarker", "nextcontinuationtoken",
        "continuationtoken", "continuation", "endcursor", "nextpage", "nextoffset",
    ]
    private static let marks: Set<String> = [
        "hasmore", "hasnext", "hasnextpage", "moreitems", "moreavailable", "istruncated", "moredata", "morerecords",
    ]

    private var counts: [String: Int] = [:]
    private var found: [(hint: Hint, isSet: Bool)] = []

    package override init() { super.init() }

    /// The first place that says that there is a further page; nil without one. An address or a token comes before a mark.
    package var hint: Hint? {
        let once = found.filter { $0.isSet && counts[$0.hint.path] == 1 }.map(\.hint)
        // GraphQL has a cursor on the last page, too.
        let isLast = found.contains { $0.hint.kind == .mark && !$0.isSet && counts[$0.hint.path] == 1 }
        return isLast ? nil : once.first { $0.kind != .mark } ?? once.first
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        guard Self.depths.contains(stream.depth), stream.name.local.lowercased() == "link" else { return }
        let attributes = Dictionary(stream.attributesOfElement.all.map { ($0.0.local, $0.1) }) { first, _ in first }
        guard attributes["rel"]?.lowercased() == "next", let target = attributes["href"] else { return }
        note(.address, path(in: stream) + "[@rel='next']/@href", isSet: !target.isEmpty)
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        guard Self.depths.contains(stream.depth) else { return }
        let name = Self.plain(stream.name.local)
        let kind: Hint.Kind
        if Self.tokens.contains(name) {
            kind = .token
        } else if Self.addresses.contains(name) {
            kind = .address
        } else if Self.marks.contains(name) {
            kind = .mark
        } else if name == "href", Self.plain(stream.name(atDepth: stream.depth - 1).local) == "next" {
            kind = .address
        } else {
            return
        }
        let text = String(decoding: trimmed(stream.textBytes), as: UTF8.self)
        let isSet = kind == .mark ? text == "true" || text == "1" : !["", "0", "null", "false"].contains(text)
        note(kind, path(in: stream), isSet: isSet)
    }

    private func note(_ kind: Hint.Kind, _ path: String, isSet: Bool) {
        if let count = counts[path] {
            counts[path] = count + 1
        } else if counts.count < Self.mostPlaces {
            counts[path] = 1
            found.append((Hint(kind: kind, path: path), isSet))
        }
    }

    private func path(in stream: XMLStreamParser) -> String {
        (1...stream.depth).reduce(into: "") { $0 += "/" + stream.name(atDepth: $1).qualified }
    }

    private static func plain(_ name: String) -> String {
        name.lowercased().filter { !"_-.@".contains($0) }
    }
}
