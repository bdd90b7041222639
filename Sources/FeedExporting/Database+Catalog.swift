import GRDB

/// What an export asks of the catalog of the database that is attached as `store`.
extension Database {
    /// Returns the columns of a table's primary key, in the key's order.
    func keyInStore(of table: String) throws -> [String] {
        try String.fetchAll(
            self, sql: "SELECT name FROM pragma_table_info(?, 'store') WHERE pk > 0 ORDER BY pk", arguments: [table])
    }

    func hasRowIDInStore(_ table: String) throws -> Bool {
        try Bool.fetchOne(
            self, sql: "SELECT wr = 0 FROM pragma_table_list(?) WHERE schema = 'store'", arguments: [table]) ?? true
    }
}
