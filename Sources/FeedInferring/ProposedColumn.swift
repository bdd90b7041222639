import FeedDeclarations

/// One column of a proposed table.
struct ProposedColumn {
    enum Source {
        case path(String)
        /// The key of the enclosing record of this table.
        case parent(String)
        /// The position, and what it is counted in where that is not the element around the record.
        case ordinal(String?)
    }

    var name: String
    var source: Source
    var type = ValueType.text

    /// The text after the column's name: `"@id"` or `{ path = "@id", type = "integer" }`.
    var declaration: String {
        switch source {
        case .ordinal(let count): return "{ ordinal = \(count.map(TOMLText.string) ?? "true") }"
        case .parent(let table): return "{ parent = \(TOMLText.string(table)) }"
        case .path(let path):
            guard type != .text else { return TOMLText.string(path) }
            return "{ path = \(TOMLText.string(path)), type = \(TOMLText.string(type.rawValue)) }"
        }
    }
}
