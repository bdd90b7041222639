/// The search for many texts in another one, in time proportional to the latter.
package struct TextSearch: Sendable, Equatable {
    /// The bytes of the shortest text that is searched for.
    package static let shortest = 4

    /// The texts, in UTF-8, by their first four bytes. Longer ones come first, as one may contain another; searches for the
    /// same texts are equal.
    private let texts: [UInt32: [[UInt8]]]

    /// - Parameter texts: the texts to search for; those of fewer than four bytes are left out.
    package init(_ texts: some Sequence<String>) {
        let known = Set(texts).map { Array($0.utf8) }.filter { $0.count >= Self.shortest }
        self.texts = Dictionary(grouping: known) { Self.start(of: $0[...]) }.mapValues {
            $0.sorted { $0.count == $1.count ? $0.lexicographicallyPrecedes($1) : $0.count > $1.count }
        }
    }

    /// Returns a text with each occurrence replaced, the longest at each place.
    package func replaced(in text: String, with replacement: (_ found: [UInt8]) -> String) -> String {
        guard !texts.isEmpty, text.utf8.count >= Self.shortest else { return text }
        let bytes = Array(text.utf8)
        var kept: [UInt8] = []
        var position = 0
        var copied = 0
        while position + Self.shortest <= bytes.count {
            let rest = bytes[position...]
            guard let found = texts[Self.start(of: rest)]?.first(where: { rest.starts(with: $0) }) else {
                position += 1
                continue
            }
            kept += bytes[copied..<position] + Array(replacement(found).utf8)
            position += found.count
            copied = position
        }
        return copied == 0 ? text : String(decoding: kept + bytes[copied...], as: UTF8.self)
    }

    /// Returns a text in which the beginnings of searched texts are replaced where it was cut, before an ellipsis. Those of
    /// fewer than ``shortest`` bytes stay.
    package func replacedBeforeCuts(in text: String, with replacement: String) -> String {
        var parts = text.split(separator: "…", omittingEmptySubsequences: false).map(String.init)
        guard !texts.isEmpty, parts.count > 1 else { return text }
        let longest = texts.values.joined().map(\.count).max() ?? 0
        for index in parts.indices.dropLast() {
            let bytes = Array(parts[index].utf8)
            guard bytes.count >= Self.shortest else { continue }
            let places = max(0, bytes.count - longest)...(bytes.count - Self.shortest)
            let start = places.first { place in
                texts[Self.start(of: bytes[place...])]?.contains { $0.starts(with: bytes[place...]) } ?? false
            }
            if let start { parts[index] = String(decoding: bytes[..<start], as: UTF8.self) + replacement }
        }
        return parts.joined(separator: "…")
    }

    private static func start(of bytes: ArraySlice<UInt8>) -> UInt32 {
        bytes.prefix(shortest).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
