package import FeedModel

/// The tables of a request's rows when it wrote them: their columns, and whether they had rows. It reveals rows that
/// were lost with their table or a column.
package enum TableFingerprint {
    private static let missing = "none"

    /// Returns digests of a table's columns. The one at each position stands for all columns up to there.
    package static func columns(of table: StoredTable) -> [String] {
        var last = ""
        return table.columns.map { column in
            last = Fingerprint.hexadecimal(
                [last, column.name.lowercased(), column.type.uppercased()].joined(separator: "\u{0}"))
            return last
        }
    }

    /// Returns the fingerprint of tables in their present state.
    ///
    /// - Parameters:
    ///   - columns: returns the digests of a table's columns; empty for a missing table.
    ///   - hasRows: returns true for a table with rows.
    package static func text(
        of tables: Set<String>, columns: (String) throws -> [String], hasRows: (String) throws -> Bool
    ) rethrows -> String {
        try tables.sorted().map { table in
            let columns = try columns(table)
            guard let last = columns.last else { return missing }
            return "\(columns.count)\(try hasRows(table) ? "+" : "-")\(last)"
        }.joined(separator: " ")
    }

    /// Returns the tables that must have rows, where those of the time of a text can still be there. Every table must have
    /// the columns that it had, perhaps followed by others.
    ///
    /// - Parameter text: nil if none was made; then the tables must exist.
    /// - Returns: nil if rows are lost.
    package static func tablesWithRows(
        _ text: String?, of tables: Set<String>, columns: (String) throws -> [String]
    ) rethrows -> [String]? {
        guard let text else { return try tables.allSatisfy { try !columns($0).isEmpty } ? [] : nil }
        let parts = text.split(separator: " ")
        guard parts.count == tables.count else { return nil }
        var filled: [String] = []
        for (table, part) in zip(tables.sorted(), parts) where part != missing {
            guard let end = part.firstIndex(where: { $0 == "+" || $0 == "-" }), let count = Int(part[..<end]) else {
                return nil
            }
            let columns = try columns(table)
            guard count > 0, count <= columns.count, columns[count - 1] == part[part.index(after: end)...] else {
                return nil
            }
            if part[end] == "+" { filled.append(table) }
        }
        return filled
    }
}

/// A requirement of a mapping or a parser on the schema, which a store remembers as long as it is met.
package enum SchemaRequirement: Hashable, Sendable {
    case tables([TableSchema])
    case references([ReferenceDefinition])
    case sql(String)
}
