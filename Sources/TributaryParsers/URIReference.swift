/// A reference to an address, in its five parts (RFC 3986, appendix B). Nothing is normalised or decoded, so that an
/// absolute address stays as written.
struct URIReference {
    var scheme: Substring?
    var authority: Substring?
    var path: Substring
    var query: Substring?
    var fragment: Substring?

    init(_ text: String) {
        var rest = text[...]
        if let hash = rest.utf8.firstIndex(of: UInt8(ascii: "#")) {
            fragment = rest[rest.utf8.index(after: hash)...]
            rest = rest[..<hash]
        }
        if let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) {
            query = rest[rest.utf8.index(after: mark)...]
            rest = rest[..<mark]
        }
        if let colon = rest.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") }),
            rest.utf8[colon] == UInt8(ascii: ":"), Self.isScheme(rest[..<colon])
        {
            scheme = rest[..<colon]
            rest = rest[rest.utf8.index(after: colon)...]
        }
        if rest.hasPrefix("//") {
            let behind = rest.dropFirst(2)
            let end = behind.utf8.firstIndex(of: UInt8(ascii: "/")) ?? behind.endIndex
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

    /// The most bytes of a base and a reference that are resolved. Each element may have a base, longer than the last.
    private static let longest = 2 << 10

    /// Returns the address that a reference means (RFC 3986, section 5.2). An absolute reference, an empty one and one
    /// without a known base are returned as they are.
    static func resolve(_ reference: String, against base: String?) -> String {
        guard let base, !reference.isEmpty, reference.utf8.count + base.utf8.count <= longest else { return reference }
        let relative = URIReference(reference)
        guard relative.scheme == nil else { return reference }
        let parent = URIReference(base)
        // A base that is relative to nothing known has no scheme.
        var result = parent.scheme.map { $0 + ":" } ?? ""
        if let authority = relative.authority ?? parent.authority { result += "//" + authority }
        if relative.authority != nil {
            result += withoutDots(relative.path)
        } else if relative.path.isEmpty {
            result += parent.path
        } else if relative.path.hasPrefix("/") {
            result += withoutDots(relative.path)
        } else if let slash = parent.path.utf8.lastIndex(of: UInt8(ascii: "/")) {
            result += withoutDots(parent.path[...slash] + relative.path)
        } else {
            result += withoutDots((parent.authority == nil ? "" : "/") + relative.path)
        }
        let takesQuery = relative.authority == nil && relative.path.isEmpty && relative.query == nil
        if let query = takesQuery ? parent.query : relative.query { result += "?" + query }
        if let fragment = relative.fragment { result += "#" + fragment }
        return result
    }

    /// Returns a path without `.` and `..` (section 5.2.4).
    private static func withoutDots(_ path: Substring) -> String {
        var path = String(path)
        return path.withUTF8 { bytes in
            let (dot, slash) = (UInt8(ascii: "."), UInt8(ascii: "/"))
            var kept: [UInt8] = []
            kept.reserveCapacity(bytes.count)
            var segments = 0
            var begin = 0
            while begin <= bytes.count {
                var end = begin
                while end < bytes.count, bytes[end] != slash { end += 1 }
                let isOne = end - begin == 1 && bytes[begin] == dot
                let isTwo = end - begin == 2 && bytes[begin] == dot && bytes[begin + 1] == dot
                // The first segment is the part before a leading slash.
                if isTwo, segments > 1 || segments == 1 && !kept.isEmpty {
                    while kept.last != slash, !kept.isEmpty { kept.removeLast() }
                    if !kept.isEmpty { kept.removeLast() }
                    segments -= 1
                }
                // A segment follows the last slash, even if it is empty.
                if !isOne && !isTwo || end == bytes.count {
                    if segments > 0 { kept.append(slash) }
                    segments += 1
                    if !isOne, !isTwo {
                        kept.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[begin..<end]))
                    }
                }
                begin = end + 1
            }
            return String(decoding: kept, as: UTF8.self)
        }
    }
}
