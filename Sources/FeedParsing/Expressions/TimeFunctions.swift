import GRDBSQLite

/// SQLite's functions of dates and times, without those uses of theirs that depend on the moment or on the machine's time
/// zone. They are computed by a connection that has SQLite's own.
final class TimeFunctions {
    typealias Body = @convention(c) (OpaquePointer?, Int32, UnsafeMutablePointer<OpaquePointer?>?) -> Void

    static let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]

    private var connection: OpaquePointer?
    private var statements: [String: OpaquePointer] = [:]

    deinit {
        for statement in statements.values { sqlite3_finalize(statement) }
        sqlite3_close_v2(connection)
    }

    static func body(of name: String) -> Body {
        // A C function cannot capture the name.
        switch name {
        case "date": { FunctionCall($0!, $1, $2).time("date") }
        case "time": { FunctionCall($0!, $1, $2).time("time") }
        case "datetime": { FunctionCall($0!, $1, $2).time("datetime") }
        case "julianday": { FunctionCall($0!, $1, $2).time("julianday") }
        case "unixepoch": { FunctionCall($0!, $1, $2).time("unixepoch") }
        case "strftime": { FunctionCall($0!, $1, $2).time("strftime") }
        default: { FunctionCall($0!, $1, $2).time("timediff") }
        }
    }

    func compute(_ name: String, _ call: FunctionCall) {
        let parameters = Array(repeating: "?", count: call.arguments.count).joined(separator: ", ")
        let sql = "SELECT \(name)(\(parameters))"
        guard let statement = statement(sql) else { return call.fail("SQLite has no function '\(name)'") }
        defer { sqlite3_reset(statement) }
        for (index, argument) in call.arguments.enumerated() {
            sqlite3_bind_value(statement, Int32(index + 1), argument)
        }
        guard sqlite3_step(statement) == SQLITE_ROW else {
            return call.fail(String(cString: sqlite3_errmsg(connection)))
        }
        call.answer(sqlite3_column_value(statement, 0))
    }

    private func statement(_ sql: String) -> OpaquePointer? {
        if let known = statements[sql] { return known }
        if connection == nil { sqlite3_open(":memory:", &connection) }
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK else { return nil }
        statements[sql] = statement
        return statement
    }
}

extension FunctionCall {
    /// Words for which SQLite takes the present time instead of one that is given.
    private static let present: Set<String> = ["now", "subsec", "subsecond"]
    private static let zones: Set<String> = ["localtime", "utc"]

    fileprivate func time(_ name: String) {
        let times = name == "strftime" ? 1..<2 : 0..<(name == "timediff" ? 2 : 1)
        guard arguments.count >= times.upperBound else {
            return failByDeclaration("\(name)() without a time is the present, \(Self.reason)")
        }
        for index in arguments.indices where sqlite3_value_type(arguments[index]) == SQLITE_TEXT {
            // Longer texts are none of these words.
            guard let text = text(index), text.count <= 9 else { continue }
            let word = String(decoding: text, as: UTF8.self).lowercased()
            if times.contains(index), Self.present.contains(word) {
                return failByDeclaration("'\(word)' is the present, \(Self.reason)")
            }
            if index >= times.upperBound, Self.zones.contains(word) {
                return failByDeclaration("'\(word)' is the machine's time zone, \(Self.reason)")
            }
        }
        functions.times.compute(name, self)
    }

    private static let reason = "and the same record must always give the same row"
}
