import GRDB

/// Tells what a merge is about to change.
extension Merge {
    func tell(_ table: StagingTable, _ operation: PlannedChange.Operation, sql: String) throws {
        guard let onChange else { return }
        let rows = try Row.fetchCursor(db, sql: sql)
        while let row = try rows.next() {
            try onChange(
                PlannedChange(
                    table: table.table.name, operation: operation, row: row.map { ($0.0, $0.1) }, key: table.keyColumns)
            )
        }
    }

    func tellUpdates(_ table: StagingTable, _ rows: String) throws {
        let names = table.identityColumns + table.valueColumns
        let new = names.map { "s.\($0.sqlIdentifier)" }
        let old = names.map { "m.\($0.sqlIdentifier)" }
        let found = try Row.fetchCursor(
            db,
            sql: """
                SELECT \((new + old).joined(separator: ", ")) FROM \(stack.schema).tributary_difference d
                CROSS JOIN \(table.qualifiedName) s ON s.\(StagingTable.row) = d.row
                JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s")) WHERE NOT d.is_new ORDER BY d.id
                """)
        while let row = try found.next() {
            let values = Array(row.databaseValues)
            try onChange?(
                PlannedChange(
                    table: table.table.name,
                    operation: .update(old: Array(zip(names, values[names.count...]).map { ($0, $1) })),
                    row: zip(names, values).map { ($0, $1) }, key: table.keyColumns))
        }
    }
}
