/// A value of the configuration that is known only when its request is sent: `${capture:NAME}`, `${row:COLUMN}`,
/// `${slice:BOUND}`, `${last:EXPRESSION}`, `${now:FORMAT}`.
package enum Reference: Hashable, Sendable, CustomStringConvertible {
    /// A value that the response of an earlier request has given.
    case capture(String)
    /// A column of the row for which the request is sent.
    case row(String)
    /// A bound of the span for which the request is sent.
    case slice(String)
    /// An SQL expression over the rows in the store.
    case last(String)
    /// The time of the run: what ``RunTime`` reads.
    case now(String)

    /// - Returns: nil for a text that is known when the configuration is read: an environment variable, a file.
    package init?(_ text: some StringProtocol) {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let name = String(text[text.index(after: colon)...])
        switch text[..<colon] {
        case "capture": self = .capture(name)
        case "row": self = .row(name)
        case "slice": self = .slice(name)
        case "last": self = .last(name)
        case "now": self = .now(name)
        default: return nil
        }
    }

    /// The text between `${` and `}`.
    package var description: String {
        switch self {
        case .capture(let name): "capture:" + name
        case .row(let column): "row:" + column
        case .slice(let bound): "slice:" + bound
        case .last(let expression): "last:" + expression
        case .now(let form): "now:" + form
        }
    }

    /// True for the time of the run, which needs no other supplier.
    package var isTime: Bool { if case .now = self { true } else { false } }

    /// The column of a row, as written; nil for other references.
    package var column: String? { if case .row(let column) = self { column } else { nil } }

    /// The bound of a span, as written; nil for other references.
    package var bound: String? { if case .slice(let bound) = self { bound } else { nil } }
}
