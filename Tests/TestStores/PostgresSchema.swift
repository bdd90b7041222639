import Foundation
import PostgresStore
import PostgresServer
import Synchronization

/// A schema of one test's own on the server that all tests share; the first of the search path, before that of extensions.
final class PostgresSchema: Sendable {
    let connectionString: String
    private let name: String
    private let connection: Mutex<PostgresConnection>

    private static let number = Atomic(0)

    /// Makes extensions known, which belong to the database.
    private static let extensions = Result {
        try PostgresServer.shared().connect().executeScript("CREATE EXTENSION IF NOT EXISTS citext").command
    }

    init(_ server: PostgresServer) throws {
        _ = try Self.extensions.get()
        let name = "test_\(Self.number.add(1, ordering: .relaxed).newValue)"
        let connectionString = server.connectionString() + " options='-csearch_path=\(name),public'"
        let connection = try PostgresConnection(connectionString)
        try connection.execute("CREATE SCHEMA \(name)")
        self.name = name
        self.connectionString = connectionString
        self.connection = Mutex(connection)
    }

    /// Whoever is still connected, or has it locked, is not waited for.
    func drop() {
        connection.withLock { connection in
            _ = try? connection.executeScript("SET lock_timeout = '5s'; DROP SCHEMA \(name) CASCADE")
            connection.close()
        }
    }

    func rows(_ sql: String) throws -> [String] {
        try connection.withLock { try Self.rows(of: $0, sql) }
    }

    func execute(_ sql: String, isChecked: Bool) throws {
        try connection.withLock { connection in
            // Triggers do not fire for a replica, foreign keys' among them.
            if !isChecked { try connection.execute("SET session_replication_role = replica") }
            defer { if !isChecked { _ = try? connection.execute("RESET session_replication_role") } }
            try connection.executeScript(sql)
        }
    }

    func dump() throws -> [String] {
        try connection.withLock { connection in
            let tables = try connection.execute(
                """
                SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace
                AND relkind = 'r' AND relname NOT LIKE 'tributary\\_%' ORDER BY relname
                """
            ).compactMap { $0.string(0) }
            return try tables.flatMap { table in
                try connection.execute("SELECT r::text FROM \(table.postgresIdentifier) r").map {
                    "\(table): \($0.string(0) ?? "")"
                }.sorted()
            }
        }
    }

    private static func rows(of connection: PostgresConnection, _ sql: String) throws -> [String] {
        let isOwn = sql.contains("tributary_")
        return try connection.execute(sql).map { row in
            try (0..<row.columnCount).map { try text(row, $0, isOwn: isOwn) }.joined(separator: "|")
        }
    }

    /// Tells a value as SQLite's store does.
    ///
    /// - Parameter isOwn: true in Tributary's own tables, whose times have milliseconds.
    private static func text(_ row: PostgresRow, _ column: Int, isOwn: Bool) throws -> String {
        guard let text = row.string(column) else { return "NULL" }
        switch row.columnTypes[column] {
        case PostgresType.bool: return text == "t" ? "1" : "0"
        case PostgresType.real, PostgresType.doublePrecision: return try row.double(column).map { "\($0)" } ?? ""
        case PostgresType.numeric where text.contains("."):
            let digits = text.reversed().drop { $0 == "0" }
            return String(digits.drop { $0 == "." }.reversed())
        case PostgresType.bytea: return try "\(Data(row.bytes(column) ?? []))"
        case PostgresType.timestamptz:
            let time = text.replacing(" ", with: "T").replacing("+00", with: "")
            return isOwn ? (time + (time.contains(".") ? "" : ".") + "000").prefix(23) + "Z" : time + "Z"
        case PostgresType.jsonb: return try json(JSONSerialization.jsonObject(with: Data(text.utf8)))
        case PostgresType.textArray: return try json(row.stringArray(column)?.map { $0 ?? "" } ?? [])
        default: return text
        }
    }

    private static func json(_ value: Any) throws -> String {
        let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
        return try String(decoding: JSONSerialization.data(withJSONObject: value, options: options), as: UTF8.self)
    }
}
