import FeedStores
import PostgresClient

/// The name of a table that keeps what commits replaced.
struct HistoryName {
    var schema: String
    var name: String

    /// As SQL names it.
    var sql: String { "\(schema.postgresIdentifier).\(name.postgresIdentifier)" }

    /// Returns why a table can have no history; nil where it can.
    static func problem(of table: String) -> String? {
        guard HistoryTable.name(of: table).utf8.count > 63 else { return nil }
        return "the history of table '\(table)' would need a name of more than 63 bytes, which is PostgreSQL's limit; "
            + "shorten the table's name to \(63 - HistoryTable.prefix.utf8.count) bytes, or leave out keep_history"
    }

    /// The table whose rows it keeps; nil where it has ended.
    var table: String? {
        name.hasPrefix(HistoryTable.prefix) ? String(name.dropFirst(HistoryTable.prefix.count)) : nil
    }
}

extension HistoryName {
    /// A FROM clause of the tables that may be the store's histories, as `c`, with their schemas, `n`: those beside its own
    /// tables, and those that earlier versions made beside the users' tables. Another store's, which the search path may
    /// lead to as well, are beside its own tables.
    static let all = """
        pg_catalog.pg_class own JOIN pg_catalog.pg_class c ON own.oid = to_regclass('tributary_run')
            AND c.relkind = 'r' AND c.relpersistence <> 't' AND pg_table_is_visible(c.oid)
            AND (c.relnamespace = own.relnamespace OR NOT EXISTS (
                SELECT FROM pg_catalog.pg_class o WHERE o.relname = 'tributary_run' AND o.relnamespace = c.relnamespace))
        JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
        """

    /// Returns the histories of the store, also of tables that are gone, and those that have ended.
    static func all(_ connection: PostgresConnection) throws -> [HistoryName] {
        try connection.execute(
            """
            SELECT n.nspname, c.relname FROM \(all) WHERE c.relname LIKE ANY ($1)
                AND has_table_privilege(c.oid, 'SELECT') AND has_table_privilege(c.oid, 'DELETE') ORDER BY c.relname
            """, [.textArray(try PostgresTextArray(HistoryTable.patterns))]
        ).map { HistoryName(schema: $0.string(0) ?? "", name: $0.string(1) ?? "") }
            .filter { HistoryTable.isHistory($0.name) }
    }

    /// Returns the schema of Tributary's own tables.
    static func ownSchema(_ connection: PostgresConnection) throws -> String {
        try connection.execute(
            """
            SELECT n.nspname FROM pg_catalog.pg_namespace n
            JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.oid = to_regclass('tributary_run')
            """
        ).first?.string(0) ?? "public"
    }
}
