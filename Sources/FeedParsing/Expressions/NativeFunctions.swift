import GRDBSQLite

/// SQLite's own functions, computed by a connection that has no others.
final class NativeFunctions {
    private var connection: OpaquePointer?
    private var statements: [String: [Int: OpaquePointer]] = [:]

    deinit {
        for statement in statements.values.flatMap(\.values) { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    /// The names of SQLite's own functions, which are those of the library that is linked.
    var names: Set<String> { Self.names }

    private static let names: Set<String> = {
        var connection: OpaquePointer?
        defer { sqlite3_close_v2(connection) }
        guard sqlite3_open(":memory:", &connection) == SQLITE_OK, let connection else { return [] }
        return Set(ExpressionFunctions.names(of: connection))
    }()

    func compute(_ name: String, _ call: FunctionCall) {
        guard let statement = statement(name, call.arguments.count) else {
            return call.fail("SQLite has no function '\(name)' with \(call.arguments.count) arguments")
        }
        defer {
            sqlite3_reset(statement)
            // They may be long.
            sqlite3_clear_bindings(statement)
        }
        for (index, argument) in call.arguments.enumerated() {
            sqlite3_bind_value(statement, Int32(index + 1), argument)
        }
        guard sqlite3_step(statement) == SQLITE_ROW else {
            return call.fail(String(cString: sqlite3_errmsg(connection)))
        }
        call.answer(sqlite3_column_value(statement, 0))
    }

    private func statement(_ name: String, _ arguments: Int) -> OpaquePointer? {
        if let known = statements[name]?[arguments] { return known }
        if connection == nil {
            sqlite3_open(":memory:", &connection)
            sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(ExpressionDatabase.longestValue))
        }
        let parameters = Array(repeating: "?", count: arguments).joined(separator: ", ")
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, "SELECT \(name)(\(parameters))", -1, &statement, nil) == SQLITE_OK
        else { return nil }
        statements[name, default: [:]][arguments] = statement
        return statement
    }
}
