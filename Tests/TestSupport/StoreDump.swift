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
            let columns = try db.columns(in: table).map { "quote(\"\($0.name)\")" }.joined(separator: " || ',' || ")
            return try String.fetchAll(db, sql: "SELECT \(columns) FROM \"\(table)\" ORDER BY 1").map {
                table + ": " + $0
            }
        }
    }
}

package func dumpRows(path: String) throws -> [String] {
    try dumpRows(DatabaseQueue(path: path))
}
