import FeedModel

/// A line for people. What is put into it is escaped for the terminal, as it may come from a feed; only its literal parts
/// and ``Terminal/colored(_:_:)`` can hold anything that a terminal acts upon.
struct TerminalLine: ExpressibleByStringInterpolation {
    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var text = ""

        init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        mutating func appendLiteral(_ literal: String) { text += literal }

        mutating func appendInterpolation(_ line: TerminalLine) { text += line.text }

        mutating func appendInterpolation(_ value: some CustomStringConvertible) {
            text += value.description.escapedForTerminal()
        }
    }

    /// The line as it is written, without its end.
    let text: String

    init(_ text: String) { self.text = text.escapedForTerminal() }

    init(stringLiteral text: String) { self.text = text }

    init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

    /// - Parameter escaped: what a terminal may act upon.
    fileprivate init(escaped: String) { text = escaped }

    static func + (left: TerminalLine, right: TerminalLine) -> TerminalLine {
        TerminalLine(escaped: left.text + right.text)
    }

    /// Returns the line in a colour (ECMA-48, SGR).
    func colored(_ color: Terminal.Color) -> TerminalLine {
        TerminalLine(escaped: "\u{1B}[\(color.rawValue)m\(text)\u{1B}[0m")
    }

    /// The columns that the line takes, without its colours.
    var displayWidth: Int { text.replacing(#/\u{1B}\[[0-9]*m/#, with: "").displayWidth }

    /// Returns the line without spaces at its end.
    var trimmed: TerminalLine { TerminalLine(escaped: String(text.reversed().drop { $0 == " " }.reversed())) }
}
