import CSQLite
import GRDB

/// How those columns of a table compare values that scopes name.
package struct TableComparison: Sendable, Hashable {
    /// By their names in lower case. What is missing is compared byte by byte.
    package var columns: [String: ColumnComparison]

    package init(columns: [String: ColumnComparison] = [:]) { self.columns = columns }

    /// A scope's values as the table compares them, by the columns' names in lower case.
    func values(of scope: [String: String]) -> [String: ComparedValue] {
        scope.reduce(into: [:]) { values, entry in
            let column = entry.key.lowercased()
            values[column] = (columns[column] ?? .exact).value(entry.value)
        }
    }

    /// Whether two scopes have rows in common: they do unless a column that both name has different values.
    package func mayShareRows(_ scope: [String: String], _ other: [String: String]) -> Bool {
        scope.isEmpty || other.isEmpty || values(of: scope).mayShareRows(with: values(of: other))
    }

    func restricted(to names: Set<String>) -> TableComparison {
        TableComparison(columns: columns.filter { names.contains($0.key) })
    }
}

extension [String: ComparedValue] {
    func mayShareRows(with other: [String: ComparedValue]) -> Bool {
        allSatisfy { column, value in other[column].map { $0 == value } ?? true }
    }
}

extension Database {
    /// How columns of one of the main store's tables compare; a column that there is not is left out.
    ///
    /// - Parameter columns: their names in lower case.
    func comparisons(of columns: Set<String>, in table: String) throws -> [String: ColumnComparison] {
        // Read first: the look-ups below go by what the connection knows of the schema.
        let types = try Row.fetchAll(self, sql: "PRAGMA main.table_xinfo(\(table.sqlIdentifier))").reduce(
            into: [String: String]()
        ) { $0[($1["name"] as String).lowercased()] = $1["type"] }
        let isStrict =
            try Bool.fetchOne(
                self, sql: "SELECT strict FROM pragma_table_list(?) WHERE schema = 'main'", arguments: [table]) ?? false
        return columns.reduce(into: [:]) { comparisons, column in
            guard let type = types[column] else { return }
            var collation: UnsafePointer<CChar>?
            let code = sqlite3_table_column_metadata(
                sqliteConnection, "main", table, column, nil, &collation, nil, nil, nil)
            guard code == SQLITE_OK, let collation else { return }
            // In a STRICT table, ANY keeps every value as it is (stricttables.html, section 2).
            let keepsAny = isStrict && type.uppercased() == "ANY"
            comparisons[column] = ColumnComparison(
                affinity: keepsAny ? .blob : Affinity(declaredType: type), collation: String(cString: collation))
        }
    }
}
