package import FeedConfiguration
import XMLStream

/// A guess at a format that the first byte of a body does not show: CSV or JSON Lines, from the first lines; GTFS Realtime, from
/// its header.
///
/// Only proposals guess. The proposal names the format, so a run does not depend on the lines that a body begins with.
package struct FormatGuess: Sendable {
    package var format: BodyFormat
    /// The delimiter of CSV; nil for a comma.
    package var delimiter: UInt8?

    /// The most bytes that are looked at.
    package static let longest = 64 << 10
    /// The most lines that are compared.
    private static let mostLines = 20
    /// The fewest delimiters on a line: a text may have one on each.
    private static let fewestDelimiters = 2

    /// Returns nil if the body shows none of these formats.
    ///
    /// - Parameters:
    ///   - start: the bytes from the start of the body.
    ///   - isWhole: true if no more bytes follow.
    ///   - known: the format, as far as it is known. JSON may be JSON Lines, and the delimiter of CSV is unknown.
    package init?(_ start: [UInt8], isWhole: Bool, known: BodyFormat?) {
        let mark = ByteOrderMark(start)
        let marked = start.dropFirst(mark?.length ?? 0)
        // The text of UTF-16 is known by its ASCII characters.
        let text = mark ?? .utf8 == .utf8 ? marked : marked.filter { $0 != 0 }[...]
        if known == .csv {
            format = .csv
            delimiter = Self.delimiter(ofFirstLine: text)
            return
        }
        if known == nil, Self.isGTFSRealtime(start) {
            format = .gtfsRealtime
            return
        }
        guard known == nil || known == .json, let first = text.first(where: { !isXMLSpace($0) }) else { return nil }
        switch first {
        case UInt8(ascii: "{"):
            guard Self.isLinesOfObjects(text) else { return nil }
            format = .jsonl
        case UInt8(ascii: "<"), UInt8(ascii: "["),
            _ where known == .json:
            return nil
        default:
            let found = Self.delimiters.lazy.compactMap { delimiter in
                Self.count(delimiter, in: text, isWhole: isWhole).map { (delimiter, $0) }
            }
            guard let best = found.max(by: { $0.1 < $1.1 }) else { return nil }
            format = .csv
            delimiter = best.0 == UInt8(ascii: ",") ? nil : best.0
        }
    }

    /// Returns true for a message whose first field is a message that begins with a version, such as `2.0`, as its first field.
    static func isGTFSRealtime(_ start: some Collection<UInt8>) -> Bool {
        let bytes = Array(start.prefix(7))
        guard bytes.count == 7, bytes[0] == 0x0A, (5..<0x80).contains(bytes[1]) else { return false }
        return String(decoding: bytes[2...], as: UTF8.self).wholeMatch(of: #/\x0A\x03\d\.\d/#) != nil
    }

    private static let delimiters = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")]

    /// Returns the most frequent delimiter; nil for a comma, or without one.
    private static func delimiter(ofFirstLine text: ArraySlice<UInt8>) -> UInt8? {
        let line = text.drop { $0 == 0x0A || $0 == 0x0D }.prefix { $0 != 0x0A && $0 != 0x0D }
        let counts = delimiters.map { delimiter in line.count { $0 == delimiter } }
        guard let most = counts.max(), most > 0, let first = counts.firstIndex(of: most), first > 0 else { return nil }
        return delimiters[first]
    }

    /// True if the first line is an object, and another one begins on the next: no document in JSON has that.
    private static func isLinesOfObjects(_ text: ArraySlice<UInt8>) -> Bool {
        let lines = text.split(maxSplits: 2) { $0 == 0x0A }.map { line in line.filter { !isXMLSpace($0) } }
        return lines.count > 1 && lines[0].last == UInt8(ascii: "}") && lines[1].first == UInt8(ascii: "{")
    }

    /// Returns how often a delimiter occurs outside of quotes on each of the first lines; nil if lines differ, or if it
    /// occurs too rarely.
    private static func count(_ delimiter: UInt8, in text: ArraySlice<UInt8>, isWhole: Bool) -> Int? {
        var counts: [Int] = []
        var count = 0
        var isQuoted = false
        var isEmpty = true
        for byte in text {
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            guard !isQuoted, byte == 0x0A || byte == 0x0D else {
                if byte == delimiter, !isQuoted { count += 1 }
                isEmpty = false
                continue
            }
            if !isEmpty { counts.append(count) }
            count = 0
            isEmpty = true
            if counts.count == mostLines { break }
        }
        if isWhole, !isEmpty, !isQuoted { counts.append(count) }
        guard counts.count > 1, counts[0] >= fewestDelimiters, counts.allSatisfy({ $0 == counts[0] }) else {
            return nil
        }
        return counts[0]
    }
}
