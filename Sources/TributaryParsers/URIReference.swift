/// A reference to an address, in its five parts (RFC 3986, appendix B). Nothing is normalised or decoded, so that what is
/// absolute stays as it was written.
struct URIReference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        if let hash = rest.firstIndex(of: "#") {
            fragment = rest[hash...].dropFirst()
            rest = rest[..<hash]
        }
        if let mark = rest.firstIndex(of: "?") {
            query = rest[mark...].dropFirst()
            rest = rest[..<mark]
        }
        if let colon = rest.firstIndex(where: { ":/".contains($0) }), rest[colon] == ":",
            Self.isScheme(rest[..<colon])
        {
            scheme = rest[..<colon]
            rest = rest[colon...].dropFirst()
        }
        if rest.hasPrefix("//") {
            let behind = rest.dropFirst(2)
            let end = behind.firstIndex(of: "/") ?? behind.endIndex
            authority = behind[..<end]
            rest = behind[end...]
        }
        path = rest
    }

    private static func isScheme(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, isLetter(first) else { return false }
        return text.utf8.allSatisfy { isLetter($0) || $0 &- 0x30 < 10 || "+-.".utf8.contains($0) }
    }

    private static func isLetter(_ byte: UInt8) -> Bool { (byte | 0x20) &- UInt8(ascii: "a") < 26 }

    /// Addresses that would be longer are left as they are: each element may have a base, and each be longer than the last.
    private static let longest = 2 << 10

    /// What a reference stands for (RFC 3986, section 5.2). An absolute one, an empty one and one that nothing is known to be
    /// the base of are returned as they are.
    static func resolve(_ reference: String, against base: String?) -> String {
        guard let base, !reference.isEmpty, reference.utf8.count + base.utf8.count <= longest else { return reference }
        let relative = URIReference(reference)
        guard relative.scheme == nil else { return reference }
        let parent = URIReference(base)
        // A base that is itself relative to nothing known has no scheme.
        var result = parent.scheme.map { $0 + ":" } ?? ""
        if let authority = relative.authority ?? parent.authority { result += "//" + authority }
        if relative.authority != nil {
            result += withoutDots(relative.path)
        } else if relative.path.isEmpty {
            result += parent.path
        } else if relative.path.hasPrefix("/") {
            result += withoutDots(relative.path)
        } else if let slash = parent.path.lastIndex(of: "/") {
            result += withoutDots(parent.path[...slash] + relative.path)
        } else {
            result += withoutDots((parent.authority == nil ? "" : "/") + relative.path)
        }
        let takesQuery = relative.authority == nil && relative.path.isEmpty && relative.query == nil
        if let query = takesQuery ? parent.query : relative.query { result += "?" + query }
        if let fragment = relative.fragment { result += "#" + fragment }
        return result
    }

    /// A path without `.` and `..` (section 5.2.4).
    private static func withoutDots(_ path: Substring) -> String {
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        for (index, segment) in segments.enumerated() {
            let isLast = index == segments.count - 1
            switch segment {
            case ".":
                if isLast { kept.append("") }
            case "..":
                // The first is what stands before a leading slash.
                if kept.count > 1 || kept.first?.isEmpty == false { kept.removeLast() }
                if isLast { kept.append("") }
            default: kept.append(segment)
            }
        }
        return kept.joined(separator: "/")
    }
}
