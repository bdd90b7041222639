import FeedModel
import FeedStaging

/// What PostgreSQL has said about texts of each type: the text by which it shows the value of each.
final class SpellingsCache: Sendable {
    private let types = Mutex<[String: ValueSpellings]>([:])

    /// Returns what is known about texts of a column's type, with these texts. PostgreSQL is asked once about each.
    func spellings(
        of texts: Set<String>, in column: StoredTable.Column, _ connection: PostgresConnection
    ) throws -> ValueSpellings {
        let empty = ValueSpellings(type: column.baseType)
        let (all, unknown) = types.withLock { types in
            let known = types[column.baseType] ?? empty
            let unknown = texts.filter { known[$0] == nil }
            return (unknown.isEmpty ? known : nil, unknown)
        }
        if let all { return all }
        let shown = try Self.shown(unknown.sorted(), as: column, connection)
        return types.withLock { types in
            var spellings = types.removeValue(forKey: column.baseType) ?? empty
            // Written in place, unless a commit holds a copy.
            for (text, shown) in shown { spellings[text] = shown }
            types[column.baseType] = spellings
            return spellings
        }
    }

    /// Returns the text by which PostgreSQL shows the value of each text. A text that the type does not accept, and that no
    /// row can have, stands for itself.
    private static func shown(
        _ texts: [String], as column: StoredTable.Column, _ connection: PostgresConnection
    ) throws -> [String: String] {
        // The base type, as a domain's conditions do not decide which values are equal. A boolean is a number, as in the
        // changelog.
        let value = "u.value::\(column.baseType)"
        let shown = column.typeName == "bool" ? "(\(value))::integer::text" : "format('%s', \(value))"
        let query = "SELECT u.value, \(shown) FROM unnest($1::text[]) u (value)"
        func ask() throws -> [String: String] {
            try connection.execute(query, [.textArray(PostgresTextArray(texts))]).reduce(into: [:]) { found, row in
                guard let text = row.string(0) else { return }
                found[text] = row.string(1) ?? text
            }
        }
        do {
            // An error would end the transaction.
            return try connection.transactionStatus == .idle ? ask() : connection.inSavepoint(ask)
        } catch let error as PostgresError where error.isAboutRows {
            guard texts.count > 1 else { return [texts[0]: texts[0]] }
            let half = texts.count / 2
            return try Self.shown(Array(texts[..<half]), as: column, connection)
                .merging(Self.shown(Array(texts[half...]), as: column, connection)) { $1 }
        }
    }
}

extension TableDetailsCache {
    /// Returns how a table compares columns, and the columns and values of scopes. Columns that do not exist are left
    /// out.
    ///
    /// - Parameter columns: the names in lower case.
    func comparison(
        of table: String, columns: Set<String>, scopes: [[String: String]], in connection: PostgresConnection
    ) throws -> TableComparison {
        let columns = columns.union(scopes.columns)
        guard !columns.isEmpty, let details = try details(of: table, in: connection) else { return TableComparison() }
        return TableComparison(
            columns: try columns.reduce(into: [:]) { comparisons, name in
                guard let column = details.column(name) else { return }
                var comparison = column.comparison
                if column.hasSpellings {
                    let texts = Set(scopes.flatMap { $0.filter { $0.key.lowercased() == name }.values })
                    comparison.spellings = try spellings.spellings(of: texts, in: column, connection)
                }
                comparisons[name] = comparison
            })
    }
}
