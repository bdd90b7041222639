package import FeedModel
package import Foundation

/// A connection to a store's database, in a transaction or not, on the thread that uses it.
package protocol SQLSession {
    /// Executes one statement.
    ///
    /// - Returns: the number of rows that it has inserted, updated or deleted.
    @discardableResult
    func execute(_ sql: SQLText) throws -> Int

    /// Passes the rows of a query on as they come, one by one. A row's values are gone with the next row.
    ///
    /// - Parameter body: returns false to end the query.
    func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws
}

/// A row of a query's result. Columns count from 0; NULL is nil.
package protocol SQLRow {
    func isNull(_ column: Int) -> Bool
    /// The text form of any type.
    func string(_ column: Int) -> String?
    func int64(_ column: Int) throws -> Int64?
    func double(_ column: Int) throws -> Double?
    func bool(_ column: Int) throws -> Bool?
    func bytes(_ column: Int) throws -> [UInt8]?
    /// A point in time of Tributary's own tables, as the store's dialect selects it.
    func date(_ column: Int) throws -> Date?
    /// A list of texts of Tributary's own tables; none for NULL.
    func texts(_ column: Int) throws -> [String]
    /// The value as the database holds it; its text where SQLite has no such type.
    func storedValue(_ column: Int) -> StoredValue
}

extension SQLRow {
    package func int(_ column: Int) throws -> Int? { try int64(column).map { Int($0) } }
}

extension SQLSession {
    /// Returns what a body makes of the first row of a query; nil without one.
    package func first<Value>(_ sql: SQLText, _ body: (any SQLRow) throws -> Value?) throws -> Value? {
        var value: Value?
        try forEachRow(of: sql) { row in
            value = try body(row)
            return false
        }
        return value
    }

    package func all<Value>(_ sql: SQLText, _ body: (any SQLRow) throws -> Value) throws -> [Value] {
        var values: [Value] = []
        try forEachRow(of: sql) { row in
            values.append(try body(row))
            return true
        }
        return values
    }

    /// Returns the number in the first row of a query; nil for NULL.
    package func int64(_ sql: SQLText) throws -> Int64? { try first(sql) { try $0.int64(0) } }

    package func count(_ sql: SQLText) throws -> Int { Int(try int64(sql) ?? 0) }

    /// Returns true for a query whose first row is true.
    package func isTrue(_ sql: SQLText) throws -> Bool { try first(sql) { try $0.bool(0) } == true }
}
