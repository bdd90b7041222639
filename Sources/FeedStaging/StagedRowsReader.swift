import FeedModel
import GRDBSQLite

/// A connection that evaluates conditions over the rows of a scratch database, in the schema `staged`.
///
/// It reads nothing else and writes nothing: SQLite's authorizer refuses every action but reading and calling functions
/// (https://www.sqlite.org/c3ref/set_authorizer.html). Used by one thread.
final class StagedRowsReader {
    /// The most bytes of a value that a condition makes.
    private static let longestValue: Int32 = 16 << 20
    /// The number of steps of SQLite's machine between two looks at the clock.
    private static let steps: Int32 = 10_000
    /// The most columns of a row that a finding names.
    private static let mostColumns: Int32 = 8

    private var connection: OpaquePointer?
    private let isOver: () -> Bool

    /// - Parameters:
    ///   - path: the scratch database's file, with a view for each table.
    ///   - isOver: returns true once the evaluation is to end. It is called every few microseconds.
    init(path: String, isOver: @escaping () -> Bool) throws {
        self.isOver = isOver
        guard sqlite3_open_v2(":memory:", &connection, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nil) == SQLITE_OK
        else { throw StoreError(.database, "the staged rows cannot be read: \(message)") }
        try run("ATTACH DATABASE '\(path.replacing("'", with: "''"))' AS staged")
        // The schema is read before the authorizer looks.
        try run("SELECT count(*) FROM staged.sqlite_schema")
        sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Self.longestValue)
        sqlite3_set_authorizer(connection, Self.authorize, nil)
        sqlite3_progress_handler(
            connection, Self.steps,
            { context in
                guard let context else { return 1 }
                return Unmanaged<StagedRowsReader>.fromOpaque(context).takeUnretainedValue().isOver() ? 1 : 0
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    deinit { sqlite3_close_v2(connection) }

    /// Returns what speaks against a condition; nil if it holds.
    ///
    /// - Parameter condition: an expression, or a SELECT. It holds where the first column is true in every row, and there
    ///   is a row.
    /// - Throws: ``StoreError`` if it cannot be evaluated.
    func finding(against condition: String) throws -> String? {
        let statement = try prepare(condition)
        defer { sqlite3_finalize(statement) }
        var rows = 0
        while true {
            switch sqlite3_step(statement) {
            case SQLITE_ROW:
                rows += 1
                let isTrue =
                    sqlite3_column_type(statement, 0) != SQLITE_NULL && sqlite3_column_double(statement, 0) != 0
                if !isTrue { return Self.found(statement, row: rows) }
            case SQLITE_DONE: return rows > 0 ? nil : "it gave no row"
            default: throw StoreError(.schema, "cannot be evaluated: \(message)")
            }
        }
    }

    /// Compiles a condition.
    ///
    /// - Throws: ``StoreError`` if it is none, or does more than read.
    func check(_ condition: String) throws { sqlite3_finalize(try prepare(condition)) }

    private static let authorize:
        @convention(c) (
            UnsafeMutableRawPointer?, Int32, UnsafePointer<CChar>?, UnsafePointer<CChar>?, UnsafePointer<CChar>?,
            UnsafePointer<CChar>?
        ) -> Int32 = { _, action, _, name, _, _ in
            switch action {
            case SQLITE_SELECT, SQLITE_READ, SQLITE_RECURSIVE: return SQLITE_OK
            case SQLITE_FUNCTION:
                let isForbidden = name.map { String(cString: $0).lowercased() == "load_extension" } ?? false
                return isForbidden ? SQLITE_DENY : SQLITE_OK
            default: return SQLITE_DENY
            }
        }

    private func prepare(_ condition: String) throws -> OpaquePointer {
        let statement = try Self.isQuery(condition) ? compile(condition) : compile("SELECT (\(condition)\n)")
        guard let statement else { throw StoreError(.schema, "is empty", help: "write a condition that must be true") }
        return statement
    }

    /// Compiles one statement; nil if the text holds none.
    private func compile(_ sql: String) throws -> OpaquePointer? {
        try sql.withCString { start in
            var statement: OpaquePointer?
            var end: UnsafePointer<CChar>?
            let status = sqlite3_prepare_v2(connection, start, -1, &statement, &end)
            guard status == SQLITE_OK else {
                var help = status == SQLITE_AUTH ? "it may only read the staged rows" : nil
                if message.hasPrefix("no such ") { help = "the schema 'staged' has the tables of the store" }
                throw StoreError(.schema, "cannot be evaluated: \(message)", help: help)
            }
            var other: OpaquePointer?
            defer { sqlite3_finalize(other) }
            guard let end, sqlite3_prepare_v2(connection, end, -1, &other, nil) == SQLITE_OK, other == nil else {
                sqlite3_finalize(statement)
                throw StoreError(.schema, "is more than one statement", help: "write one condition")
            }
            return statement
        }
    }

    private func run(_ sql: String) throws {
        guard sqlite3_exec(connection, sql, nil, nil, nil) == SQLITE_OK else {
            throw StoreError(.database, "the staged rows cannot be read: \(message)")
        }
    }

    private var message: String { connection.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory" }

    /// Returns true for a statement that gives rows of its own.
    private static func isQuery(_ sql: String) -> Bool {
        var rest = sql[...]
        while true {
            rest = rest.drop { $0.isWhitespace }
            if rest.hasPrefix("--") {
                rest = rest.drop { !$0.isNewline }
            } else if rest.hasPrefix("/*"), let end = rest.dropFirst(2).firstRange(of: "*/") {
                rest = rest[end.upperBound...]
            } else {
                break
            }
        }
        let word = rest.prefix { $0.isLetter }.uppercased()
        return ["SELECT", "WITH", "VALUES"].contains(word)
    }

    /// Describes a row for which a condition does not hold: its columns but the first, or the first where it is alone.
    private static func found(_ statement: OpaquePointer, row: Int) -> String {
        let count = sqlite3_column_count(statement)
        guard count > 1 else { return "it gave \(text(statement, 0))" + (row > 1 ? " in row \(row)" : "") }
        let shown = (1..<count).prefix(Int(mostColumns)).map { column in
            let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "?"
            return "\(name) = \(text(statement, column))"
        }
        return "found " + shown.joined(separator: ", ")
    }

    private static func text(_ statement: OpaquePointer, _ column: Int32) -> String {
        switch sqlite3_column_type(statement, column) {
        case SQLITE_NULL: return "NULL"
        case SQLITE_BLOB: return "a BLOB"
        default:
            let text = sqlite3_column_text(statement, column).map { String(cString: $0) } ?? ""
            return text.count > 100 ? text.prefix(100) + " …" : text
        }
    }
}
