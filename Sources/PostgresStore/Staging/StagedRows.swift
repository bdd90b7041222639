import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB
import GRDBSQLite

/// The rows of one part of a stack, in memory or in a scratch database, on their way to PostgreSQL.
struct StagedRows {
    /// The table in the scratch database; nil if the rows are in memory.
    var scratch: (path: String, table: String)?
    /// The scratch database's column that numbers the rows.
    var number = StagingTable.row
    var batches: [StagedBatch]
    /// The columns after the row's number.
    var columns: [CopiedColumn]

    /// Writes every row, in the order of their numbers within each request.
    ///
    /// - Returns: the number of NULLs in each column.
    /// - Throws: ``CopiedColumn/ValueProblem``, errors of SQLite's, and what sending throws.
    func write(to copy: some StagedRowWriter) throws -> [Int] {
        var nulls = [Int](repeating: 0, count: columns.count)
        if let scratch {
            try reading(scratch.path) { try write($0, scratch.table, to: copy, nulls: &nulls) }
        } else {
            for batch in batches { try write(batch, to: copy, nulls: &nulls) }
        }
        return nulls
    }

    /// Returns a row for errors: `(id = 7, name = "Acme")`, truncated if it is long.
    ///
    /// - Parameter number: the row's position among the written rows, from 0.
    func description(ofRow number: Int) throws -> String {
        let text = zip(columns, try values(ofRow: number)).map { column, value in
            "\(column.name) = \(value.isNull ? "NULL" : "\(value)")"
        }.joined(separator: ", ")
        return "(" + (text.count > 300 ? text.prefix(300) + "…" : text) + ")"
    }

    // MARK: - In memory

    private func write(_ batch: StagedBatch, to copy: some StagedRowWriter, nulls: inout [Int]) throws {
        let numbers = batch.rows.numbers
        for (index, row) in batch.rows.rows.enumerated() {
            copy.append(numbers.isEmpty ? batch.firstRow + Int64(index) : numbers[index])
            var value = UnsafeRawPointer(batch.rows.bytes + row.offset)
            for position in columns.indices {
                let tag = RowBatch.Tag(rawValue: value.load(as: UInt8.self))
                value += 1
                switch tag {
                case .integer:
                    try columns[position].write(value.loadUnaligned(as: Int64.self), to: copy)
                    value += 8
                case .double:
                    try columns[position].write(value.loadUnaligned(as: Double.self), to: copy)
                    value += 8
                case .text, .blob:
                    let length = Int(value.loadUnaligned(as: UInt32.self))
                    let content = UnsafeRawBufferPointer(start: value + 4, count: length)
                    if tag == .text, length == 0, columns[position].emptyIsNull {
                        copy.appendNull()
                        nulls[position] += 1
                    } else if tag == .text {
                        try columns[position].write(text: content, to: copy)
                    } else {
                        try columns[position].write(blob: content, to: copy)
                    }
                    value += 4 + length
                case .null, nil:
                    copy.appendNull()
                    nulls[position] += 1
                }
            }
            try copy.endRow()
        }
    }

    private func values(ofRow number: Int) throws -> [DatabaseValue] {
        guard let scratch else { return valuesInMemory(ofRow: number) }
        let names = columns.map(\.name.sqlIdentifier).joined(separator: ", ")
        return try reading(scratch.path) { db in
            let row = try Row.fetchOne(
                db, sql: "SELECT \(names) FROM \(scratch.table) ORDER BY \(self.number) LIMIT 1 OFFSET ?",
                arguments: [number])
            return row.map { Array($0.databaseValues) } ?? []
        }
    }

    private func valuesInMemory(ofRow number: Int) -> [DatabaseValue] {
        var number = number
        for batch in batches {
            guard number >= batch.rows.rows.count else {
                return columns.indices.map { column in
                    batch.rows.value(ofRow: number, column: column)
                }
            }
            number -= batch.rows.rows.count
        }
        return []
    }

    // MARK: - The scratch database

    private func reading<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
        var configuration = Configuration()
        configuration.label = "copy"
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        defer { try? queue.close() }
        return try queue.unsafeRead(body)
    }

    private func write(_ db: Database, _ table: String, to copy: some StagedRowWriter, nulls: inout [Int]) throws {
        let names = columns.map { ", " + $0.name.sqlIdentifier }.joined()
        let sql = "SELECT \(number)\(names) FROM \(table) ORDER BY \(number)"
        // The connection keeps it while it is in use.
        let statement = try db.cachedStatement(sql: sql).sqliteStatement
        defer { sqlite3_reset(statement) }
        while true {
            let code = sqlite3_step(statement)
            if code == SQLITE_DONE { return }
            guard code == SQLITE_ROW else {
                throw DatabaseError(resultCode: ResultCode(rawValue: code), message: db.lastErrorMessage)
            }
            copy.append(sqlite3_column_int64(statement, 0))
            for position in columns.indices {
                let column = columns[position]
                let index = Int32(position + 1)
                switch sqlite3_column_type(statement, index) {
                case SQLITE_INTEGER: try column.write(sqlite3_column_int64(statement, index), to: copy)
                case SQLITE_FLOAT: try column.write(sqlite3_column_double(statement, index), to: copy)
                case SQLITE_TEXT where column.emptyIsNull && sqlite3_column_bytes(statement, index) == 0:
                    copy.appendNull()
                    nulls[position] += 1
                case SQLITE_TEXT:
                    let text = sqlite3_column_text(statement, index)
                    let count = Int(sqlite3_column_bytes(statement, index))
                    try column.write(text: UnsafeRawBufferPointer(start: text, count: count), to: copy)
                case SQLITE_BLOB:
                    let blob = sqlite3_column_blob(statement, index)
                    let count = Int(sqlite3_column_bytes(statement, index))
                    try column.write(blob: UnsafeRawBufferPointer(start: blob, count: count), to: copy)
                default:
                    copy.appendNull()
                    nulls[position] += 1
                }
            }
            try copy.endRow()
        }
    }
}

extension RowBatch {
    /// Returns a value for an error's text, up to a NUL.
    fileprivate func value(ofRow row: Int, column: Int) -> DatabaseValue {
        var current = 0
        var found = DatabaseValue.null
        // Only the columns of all rows can be visited; this is for errors.
        forEachValue(ofColumn: column) { value in
            if current == row, let start = value.baseAddress {
                found =
                    RowBatch.value(at: start)
                    ?? String(decoding: value.dropFirst(5).prefix { $0 != 0 }, as: UTF8.self).databaseValue
            }
            current += 1
        }
        return found
    }
}

/// Takes staged rows value by value, each value in the form that its column's type reads. The number of a row comes first, then
/// its columns in their order, then the row's end.
protocol StagedRowWriter: AnyObject {
    func appendNull()

    func append(_ integer: Int64)

    func append(_ double: Double)

    /// - Returns: false, and the row is spoiled, where the text holds U+0000.
    func append(text: UnsafeRawBufferPointer) -> Bool

    /// Appends bytes as hexadecimal digits.
    ///
    /// - Parameter isBytea: true for the type `bytea`, whose texts begin with `\x`.
    func append(hex data: UnsafeRawBufferPointer, isBytea: Bool)

    func endRow() throws
}

extension CopyText: StagedRowWriter {}
