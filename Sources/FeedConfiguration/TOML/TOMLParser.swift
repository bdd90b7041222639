package import FeedModel

/// Reads documents of TOML 1.1 (https://toml.io/en/v1.1.0) into tables whose values have line numbers. Every document of
/// TOML 1.0 is one of TOML 1.1, with the same values.
///
/// It reads any bytes in time and memory that grow only with their number, or reports the line at which they are not
/// TOML. Beyond the specification:
/// - a byte order mark may stand at the beginning;
/// - tables and arrays are nested at most ``TOMLLimits/depth`` deep;
/// - two keys that are the same text in Unicode, such as `é` as one character and as two, are the same key;
/// - a float that is too large is infinite.
package enum TOMLParser {
    /// - Throws: ``TOMLError`` for the first mistake.
    package static func parse(_ bytes: [UInt8]) throws(TOMLError) -> TOMLTable {
        var scanner = TOMLScanner(try TOMLBytes(bytes))
        let root = OpenTable(.header, depth: 0)
        var table = root
        while true {
            scanner.skipBlankLines()
            guard let peek = scanner.peek else { return root.closed() }
            if peek == UInt8(ascii: "[") {
                table = try readHeader(&scanner, root)
            } else {
                try scanner.readAssignment(into: table)
                try scanner.expectLineEnd(after: "the value")
            }
        }
    }

    /// - Throws: ``TOMLError`` for the first mistake.
    package static func parse(_ text: String) throws(TOMLError) -> TOMLTable { try parse(Array(text.utf8)) }

    /// Reads `[a.b]`, or `[[a.b]]`, which adds an element to an array.
    private static func readHeader(_ scanner: inout TOMLScanner, _ root: OpenTable) throws(TOMLError) -> OpenTable {
        let line = scanner.line
        scanner.advance()
        let isElement = scanner.skip("[")
        let (path, last) = try scanner.readKey()
        let end = isElement ? "]]" : "]"
        guard scanner.skip("]"), !isElement || scanner.skip("]") else {
            throw scanner.isAtLineEnd
                ? scanner.error("the table header has no '\(end)'", help: "write it at the end")
                : scanner.error("\(scanner.found) in a header", help: "write \(end) at its end")
        }
        try scanner.expectLineEnd(after: "the header")
        return try root.opened(byHeader: path, last, isElement: isElement, line: line, in: scanner.source)
    }
}

/// The limits of a document, so that none is nested too deep for the stack of code that walks through it.
package enum TOMLLimits {
    /// The most tables and arrays within one another, without the document's own table.
    package static let depth = 100
}

/// The place at which a document stops being TOML, with the reason and a correction.
package struct TOMLError: Error, Equatable, CustomStringConvertible {
    /// The line, counted from 1.
    package var line: Int
    /// The column, counted from 1 in Unicode characters.
    package var column: Int
    /// The offset in the document's bytes.
    package var offset: Int
    package var finding: Finding

    package var description: String { "line \(line), column \(column): \(finding)" }
}
