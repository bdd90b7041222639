import CSQLite
import FeedModel
import FeedStaging
import GRDB

extension ColumnComparison {
    /// Returns the compared form of a stored value; nil for NULL, which is equal to nothing.
    func value(stored: DatabaseValue) -> ComparedValue? {
        switch stored.storage {
        case .null: nil
        case .int64(let number): affinity == .real ? .real(Double(number)) : .integer(number)
        case .double(let number): .real(number)
        case .string(let text): self.text(text)
        case .blob(let data): .blob(Array(data))
        }
    }
}

extension Database {
    /// Returns how columns of one of the main store's tables compare. Columns that do not exist are left out.
    ///
    /// - Parameter columns: the names in lower case.
    func comparisons(of columns: Set<String>, in table: String) throws -> [String: ColumnComparison] {
        // Read first: the look-ups below depend on the connection's knowledge of the schema.
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
