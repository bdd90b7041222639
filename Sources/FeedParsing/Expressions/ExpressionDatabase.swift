import FeedConfiguration
import FeedStaging
import GRDBSQLite

/// A database in memory that holds no rows and evaluates expressions over values that are bound to them.
///
/// Used by one thread at a time.
final class ExpressionDatabase {
    /// The table whose columns are those of a record.
    static let record = "record"
    /// The most bytes of a value.
    static let longestValue = PatternReplacement.longestResult

    /// The most bytes of a pattern of LIKE and GLOB, whose time grows with that of the text times that of the pattern.
    private static let longestLike: Int32 = 1000

    let connection: OpaquePointer
    let functions = ExpressionFunctions()
    let guardian = ExpressionGuardian()
    private var hasRecord = false

    init() {
        var connection: OpaquePointer?
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX
        let code = sqlite3_open_v2(":memory:", &connection, flags, nil)
        // It fails only where memory for a connection's object is refused.
        guard code == SQLITE_OK, let connection else { preconditionFailure("SQLite refuses a database in memory") }
        self.connection = connection
        _disableDoubleQuotedStringLiterals(connection)
        sqlite3_limit(connection, SQLITE_LIMIT_LENGTH, Int32(Self.longestValue))
        sqlite3_limit(connection, SQLITE_LIMIT_LIKE_PATTERN_LENGTH, Self.longestLike)
        functions.register(in: connection)
    }

    deinit { sqlite3_close_v2(connection) }

    /// What SQLite says of the last failure.
    var message: String { String(cString: sqlite3_errmsg(connection)) }

    /// - Throws: ``ExpressionFault`` if the statement is none, or not the only one.
    func prepare(_ sql: String) throws(ExpressionFault) -> OpaquePointer {
        var sql = sql
        var statement: OpaquePointer?
        var rest = 0
        let code = sql.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { characters in
                var tail: UnsafePointer<CChar>?
                let code = sqlite3_prepare_v2(
                    connection, characters.baseAddress, Int32(characters.count), &statement, &tail)
                if let tail, let start = characters.baseAddress { rest = characters.count - (tail - start) }
                return code
            }
        }
        guard code == SQLITE_OK else {
            throw ExpressionFault(sqlite: message, guardian) { ExpressionFunctions.names(of: connection) }
        }
        guard let statement, rest == 0 else {
            sqlite3_finalize(statement)
            throw ExpressionFault("is not one expression")
        }
        return statement
    }

    /// Checks the formats of `printf` and `format`, whose time grows with the widths that they give: each is a constant, with
    /// widths of four digits at most.
    static func checkFormats(of expression: String) throws(ExpressionFault) {
        let calls = expression.replacing(/'(?:[^']|'')*'/, with: "''")
            .matches(of: /\b(?:printf|format)\b["\]`]?\s*(?:\(|\/\*|--)/.ignoresCase())
        guard !calls.isEmpty else { return }
        let formats = expression.matches(of: /\b(?:printf|format)\s*\(\s*('(?:[^']|'')*')/.ignoresCase()).map(\.1)
        let isWide = formats.contains { $0.contains(/%[^A-Za-z%]*(?:\*|[0-9]{5})/) }
        guard formats.count >= calls.count, !isWide else {
            throw ExpressionFault(
                "calls printf or format with a format that is no constant, or has a width of '*' or of more than four digits"
            )
        }
    }

    /// The most mistakes of one expression that are looked for.
    private static let mostFaults = 20

    /// Checks that a text is one expression over a record's columns that always gives the same value for the same
    /// record.
    ///
    /// - Returns: the columns that it reads, in lower case; or every independent mistake.
    func check(_ expression: String, among columns: [String]) -> (reads: Set<String>, faults: [ExpressionFault]) {
        var faults: [ExpressionFault] = []
        // What has been reported is taken for known, so that SQLite goes on to the next mistake.
        var names = columns
        var functions: [String] = []
        defer {
            for name in functions { forget(name) }
            guardian.allowedOnce = []
        }
        while faults.count < Self.mostFaults {
            do throws(ExpressionFault) {
                return (try self.columns(readBy: expression, among: names), faults)
            } catch {
                guard !faults.contains(where: { $0.culprit != nil && $0.culprit == error.culprit }) else { break }
                var fault = error
                if case .column = fault.culprit { fault.unknown?.known = columns }
                fault.unknown?.known.removeAll { functions.contains($0) }
                faults.append(fault)
                switch error.culprit {
                case .column(let name): names.append(name)
                case .function(let name) where guardian.allowedOnce.insert(name.lowercased()).inserted:
                    functions.append(name)
                    pretend(name)
                default: return ([], faults)
                }
            }
        }
        return ([], faults)
    }

    /// Makes a function known that does nothing.
    private func pretend(_ function: String) {
        sqlite3_create_function_v2(
            connection, function, -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS, nil,
            { context, _, _ in sqlite3_result_null(context) }, nil, nil, nil)
    }

    private func forget(_ function: String) {
        sqlite3_create_function_v2(connection, function, -1, SQLITE_UTF8, nil, nil, nil, nil, nil)
    }

    private func columns(readBy expression: String, among columns: [String]) throws(ExpressionFault) -> Set<String> {
        try Self.checkFormats(of: expression)
        let names = columns.map(\.sqlIdentifier).joined(separator: ", ")
        if !hasRecord {
            let statement = try prepare("CREATE TABLE \(Self.record) (\(names))")
            sqlite3_step(statement)
            sqlite3_finalize(statement)
            hasRecord = true
        }
        guardian.begin(connection, columns: columns)
        defer { guardian.end(connection) }
        // SQLite allows in a generated column just what is allowed here: no subquery, no aggregate, no parameter, no
        // function that gives another value each time. The table is not created.
        sqlite3_finalize(
            try prepare(
                "CREATE TABLE tributary_check (\(names), tributary_value GENERATED ALWAYS AS (\(expression)\n))"))
        guardian.forgetReads()
        let statement = try prepare("SELECT (\(expression)\n) FROM \(Self.record)")
        defer { sqlite3_finalize(statement) }
        guard sqlite3_column_count(statement) == 1 else { throw ExpressionFault("is not one expression") }
        return guardian.reads
    }
}
