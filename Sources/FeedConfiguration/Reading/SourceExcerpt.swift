/// A line of a configuration with the part of it that is wrong.
public struct SourceExcerpt: Sendable, Equatable {
    /// The line, or a part of a long one.
    public var text: String
    /// The column at which the text begins, counted from 1 in Unicode's characters (scalars).
    public var firstColumn: Int
    /// The wrong part, in scalars from the start of the text.
    public var marked: Range<Int>

    /// The column at which the wrong part begins, and the one behind it.
    public var columns: Range<Int> { marked.lowerBound + firstColumn..<marked.upperBound + firstColumn }

    /// The bytes that are looked at on either side of a mistake.
    private static let reach = 1_000

    /// - Parameters:
    ///   - lines: those of the document.
    ///   - range: the offsets of the wrong bytes. Of several lines, the first one is shown.
    ///   - isSecret: true where they are a value that must not be shown.
    init(_ lines: SourceLines, _ range: Range<Int>, isSecret: Bool = false) {
        let line = lines.line(at: range.lowerBound)
        let (start, end) = (line.lowerBound, line.upperBound)
        let scalars = lines.scalars
        // Of a long line, what stands before may be the end of a secret whose name is cut off.
        let first = range.lowerBound - start > Self.reach ? range.lowerBound : start
        let last = min(end, max(range.lowerBound, min(range.upperBound, end)) + Self.reach)
        let before = scalars(first..<range.lowerBound)
        let count = max(1, scalars(range.lowerBound..<max(range.lowerBound, min(range.upperBound, last))))
        var text = String(decoding: lines.bytes[first..<last], as: UTF8.self)
        if isSecret {
            let scalars = Array(text.unicodeScalars)
            text = String(
                String.UnicodeScalarView(
                    scalars.enumerated().map { (before..<(before + count)).contains($0) ? "*" : $1 }))
        }
        self.text = LiteralSecrets.masked(text)
        firstColumn = scalars(start..<first) + 1
        marked = before..<(before + count)
    }

    /// True where the wrong part is a secret.
    var marksSecret: Bool {
        let part = text.unicodeScalars.dropFirst(marked.lowerBound).prefix(marked.count)
        return !part.isEmpty && part.allSatisfy { $0 == "*" }
    }

    /// Replaces secrets by asterisks, wherever they are in the line.
    mutating func hide(_ secrets: TextSearch) {
        text = secrets.replaced(in: text) { String(repeating: "*", count: $0.count { $0 & 0xC0 != 0x80 }) }
    }
}
