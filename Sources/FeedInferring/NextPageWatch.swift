package import XMLStream

/// Finds the place of a document that names a further page of the same list: an address, a continuation token, or a flag
/// that there is more. It knows the names that common protocols and APIs use. A path that occurs more than once is data.
///
/// Used from one thread at a time, as the parser is.
package final class NextPageWatch: XMLStreamHandler {
    /// The place of a further page.
    package struct Hint: Sendable, Equatable {
        package enum Kind: Sendable {
            case address, token
            /// A word under a name that often stands for a token, but may be data.
            case possibleToken
            /// True if there is more. It does not show how to request that.
            case flag
        }

        package var kind: Kind
        /// The path of the element or attribute, from the root.
        package var path: String

        /// The key of the request that follows the pages, as TOML; nil if the document does not show how.
        package var key: String? {
            switch kind {
            case .address: "page = { next = \(TOMLText.string(path)) }"
            case .token, .possibleToken: "page = { token = \(TOMLText.string(path)), parameter = \"…\" }"
            case .flag: nil
            }
        }
    }

    /// The depths of elements that may name a page, which are near the root.
    private static let depths = 2...5
    /// The depth of the deepest `cursor` that may name a page.
    private static let deepestPossible = 3
    /// The most paths. A document with more of them has data of these names.
    private static let mostPlaces = 20

    /// The most bytes of a path. A longer one, or one with control characters, is no advice.
    private static let longestPath = 200

    /// Names in lower case, without `_`, `-`, `.` and `@`.
    private static let addresses: Set<String> = [
        "next", "nexturl", "nexthref", "nextlink", "nextpageurl", "nextpagelink", "odatanextlink",
    ]
    private static let tokens: Set<String> = [
        "resumptiontoken", "nexttoken", "nextpagetoken", "nextcursor", "nextmarker", "nextcontinuationtoken",
        "continuationtoken", "continuation", "endcursor", "nextpage", "nextoffset",
    ]
    private static let flags: Set<String> = [
        "hasmore", "hasnext", "hasnextpage", "moreitems", "moreavailable", "istruncated", "moredata", "morerecords",
    ]

    /// What a name near the root may mean.
    private enum Role {
        case none, link
        /// The address in HAL's `next`, where it is within such an element.
        case target
        case place(Hint.Kind)
    }

    /// The roles of the document's names so far, by their numbers.
    @exclusivity(unchecked) private var roles: [Role] = []
    private var counts: [String: Int] = [:]
    private var found: [(hint: Hint, isSet: Bool)] = []

    package override init() { super.init() }

    /// The first place that says that there is a further page; nil without one. An address or a token comes before what may
    /// be one, and that before a flag.
    package var hint: Hint? {
        let once = found.filter { counts[$0.hint.path] == 1 }
        // GraphQL has a cursor on the last page, too. A flag speaks for the places beside it and below them.
        let ended = once.filter { $0.hint.kind == .flag && !$0.isSet }.map { entry in
            entry.hint.path.lastIndex(of: "/").map { entry.hint.path[...$0] } ?? ""
        }
        let open = once.filter(\.isSet).map(\.hint).filter { hint in !ended.contains { hint.path.hasPrefix($0) } }
        return open.first { $0.kind == .address || $0.kind == .token } ?? open.first { $0.kind != .flag } ?? open.first
    }

    /// Returns true if the element that has begun may name a page.
    package static func wants(_ stream: XMLStreamParser) -> Bool {
        guard depths.contains(stream.depth) else { return false }
        let role = role(of: stream.name)
        if case .link = role { return true }
        return kind(role, stream) != nil
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        guard Self.depths.contains(stream.depth), case .link = role(in: stream) else { return }
        let attributes = Dictionary(stream.attributesOfElement.all.map { ($0.0.local, $0.1) }) { first, _ in first }
        guard attributes["rel"]?.lowercased() == "next", let target = attributes["href"] else { return }
        note(.address, path(in: stream) + "[@rel='next']/@href", isSet: !target.isEmpty)
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        guard Self.depths.contains(stream.depth), var kind = Self.kind(role(in: stream), stream) else { return }
        let text = String(decoding: trimmed(stream.textBytes), as: UTF8.self)
        if kind == .address, !Self.isAddress(text), stream.name.local.lowercased() == "next" { kind = .possibleToken }
        let isSet =
            switch kind {
            case .address: Self.isAddress(text)
            case .token, .flag: !Self.none.contains(text.lowercased())
            case .possibleToken: !Self.none.contains(text.lowercased()) && Self.isWord(text)
            }
        note(kind, path(in: stream), isSet: isSet)
    }

    /// What stands where nothing follows, in lower case.
    private static let none = ["", "0", "null", "false", "no"]

    private static func isAddress(_ text: String) -> Bool { text.contains { "/?=".contains($0) } }

    /// Returns true for a text without spaces that is no date.
    private static func isWord(_ text: String) -> Bool {
        !text.contains(where: \.isWhitespace)
            && !(text.prefix(4).allSatisfy(\.isNumber) && text.dropFirst(4).first == "-")
    }

    /// Returns the kind of page that an element of this role names; nil if it names none.
    private static func kind(_ role: Role, _ stream: XMLStreamParser) -> Hint.Kind? {
        switch role {
        case .none, .link: return nil
        case .place(.possibleToken) where stream.depth > deepestPossible: return nil
        case .place(let kind): return kind
        case .target:
            guard case .place(.address) = Self.role(of: stream.name(atDepth: stream.depth - 1)) else { return nil }
            return .address
        }
    }

    private func role(in stream: XMLStreamParser) -> Role {
        let number = Int(stream.nameIndex)
        while roles.count <= number {
            roles.append(Self.role(of: stream.attributesOfElement.name(Int32(roles.count))))
        }
        return roles[number]
    }

    private static func role(of name: XMLName) -> Role {
        if name.local == "link" { return .link }
        if name.local == "href" { return .target }
        let plain = name.local.lowercased().filter { !"_-.@".contains($0) }
        if tokens.contains(plain) { return .place(.token) }
        if addresses.contains(plain) { return .place(.address) }
        // GraphQL has one in each edge, further down.
        if plain == "cursor" { return .place(.possibleToken) }
        return flags.contains(plain) ? .place(.flag) : .none
    }

    private func note(_ kind: Hint.Kind, _ path: String, isSet: Bool) {
        if let count = counts[path] {
            counts[path] = count + 1
        } else if counts.count < Self.mostPlaces, path.utf8.count <= Self.longestPath,
            !path.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        {
            counts[path] = 1
            found.append((Hint(kind: kind, path: path), isSet))
        }
    }

    private func path(in stream: XMLStreamParser) -> String {
        (1...stream.depth).reduce(into: "") { $0 += "/" + stream.name(atDepth: $1).qualified }
    }
}
