import FeedModel
package import FeedStores
import Foundation
import GRDB

extension Database: SQLSession {
    @discardableResult
    package func execute(_ sql: SQLText) throws -> Int {
        try statement(sql) { statement, arguments in try statement.execute(arguments: arguments) }
        return changesCount
    }

    package func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws {
        try statement(sql) { statement, arguments in
            let rows = try Row.fetchCursor(statement, arguments: arguments)
            while let row = try rows.next(), try body(SQLiteRow(row: row)) {}
        }
    }

    private func statement(_ sql: SQLText, _ body: (Statement, StatementArguments) throws -> Void) throws {
        let (text, values) = sql.rendered { _, _ in ("?", true) }
        let statement = try sql.isUsedOnce ? makeStatement(sql: text) : cachedStatement(sql: text)
        // Optional values: GRDB converts an array of others through a key path, which it creates for each statement.
        try body(statement, StatementArguments(values.map { $0.databaseValue as (any DatabaseValueConvertible)? }))
    }
}

struct SQLiteRow: SQLRow {
    let row: Row

    func isNull(_ column: Int) -> Bool { value(column).isNull }
    func int64(_ column: Int) throws -> Int64? { row[column] }
    func double(_ column: Int) throws -> Double? { row[column] }
    func bool(_ column: Int) throws -> Bool? { row[column] }
    func bytes(_ column: Int) throws -> [UInt8]? { (row[column] as Data?).map { [UInt8]($0) } }
    func storedValue(_ column: Int) -> StoredValue { StoredValue(value(column)) }
    func date(_ column: Int) throws -> Date? { StoreDate.date(row[column]) }
    func texts(_ column: Int) throws -> [String] { (row[column] as String?).map(JSONText.texts) ?? [] }

    func string(_ column: Int) -> String? {
        switch value(column).storage {
        case .null, .blob: nil
        case .int64(let number): String(number)
        case .double(let number): String(number)
        case .string(let text): text
        }
    }

    private func value(_ column: Int) -> DatabaseValue { row[column] }
}

extension StoredValue {
    init(_ value: DatabaseValue) {
        self =
            switch value.storage {
            case .null: .null
            case .int64(let number): .integer(number)
            case .double(let number): .real(number)
            case .string(let text): .text(text)
            case .blob(let data): .blob(data)
            }
    }
}

extension SQLText.Value {
    /// The value as SQLite holds it, and a point in time as ``StoreDate`` writes it.
    var databaseValue: DatabaseValue {
        switch self {
        case .null: .null
        case .integer(let number): number.databaseValue
        case .real(let number): number.databaseValue
        case .text(let text): text.databaseValue
        case .blob(let data): data.databaseValue
        case .bool(let bool): bool.databaseValue
        case .date(let date): StoreDate.text(date).databaseValue
        case .texts(let texts): ((try? JSONText.encode(texts)) ?? "[]").databaseValue
        }
    }
}
