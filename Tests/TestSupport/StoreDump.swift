import Foundation
package import GRDB

/// Every row of every table but Tributary's own, as text: two equal dumps are equal rows, byte for byte.
package func dumpRows(_ reader: any DatabaseReader) throws -> [String] {
    try reader.read { db in
        let tables = try String.fetchAll(
            db,
            sql: """
                SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'tributary_%'
                AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'grdb_%' ORDER BY name
                """)
        return try tables.flatMap { table in
            func quoted(_ name: String) -> String { "\"\(name.replacing("\"", with: "\"\""))\"" }
            let columns = try String.fetchAll(
                db, sql: "SELECT name FROM pragma_table_xinfo(?)", arguments: [table]
            ).map { "quote(\(quoted($0)))" }
            // SQLite nests an expression 1,000 levels deep at most.
            let values = stride(from: 0, to: columns.count, by: 500).map { start in
                columns[start..<min(start + 500, columns.count)].joined(separator: " || ',' || ")
            }
            return try Row.fetchAll(db, sql: "SELECT \(values.joined(separator: ", ")) FROM \(quoted(table))").map {
                row in
                table + ": " + row.databaseValues.compactMap(String.fromDatabaseValue).joined(separator: ",")
            }.sorted()
        }
    }
}

package func dumpRows(path: String) throws -> [String] {
    try dumpRows(DatabaseQueue(path: path))
}
