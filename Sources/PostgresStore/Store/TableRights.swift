import FeedModel
import FeedStaging
package import FeedStores

/// The rights of the connection's role on tables.
struct TableRights {
    /// What the role may not do with a table, with the statement that lets it.
    struct Lack: Sendable {
        var id: TableID
        var role: String
        /// The table as SQL names it, with its schema.
        var table: String
        var rights: [TableRight]
        /// True if the role may not lock the table against other writers, for which PostgreSQL wants UPDATE or DELETE.
        var mayNotLock: Bool

        var message: String {
            let needed =
                mayNotLock && rights.allSatisfy { $0 != .update && $0 != .delete } ? [.update] + rights : rights
            let names = needed.map(\.rawValue).joined(separator: ", ")
            let what = rights.isEmpty ? "may not lock \(table)" : "has no right to \(names) on \(table)"
            return "the role '\(role)' \(what): GRANT \(names) ON \(table) TO \(role)"
        }
    }

    let connection: PostgresConnection

    init(_ connection: PostgresConnection) { self.connection = connection }

    /// Returns the tables that the role cannot lock, or on which it lacks one of the rights. A right on some columns
    /// counts as one on the table.
    ///
    /// - Parameter needed: the rights, by the tables' object ids.
    func lacks(_ needed: [TableID: Set<TableRight>]) throws -> [Lack] {
        guard !needed.isEmpty else { return [] }
        let ids = needed.keys.sorted().joined(separator: ",")
        let rows = try connection.execute(
            """
            SELECT c.oid, quote_ident(current_user), quote_ident(n.nspname) || '.' || quote_ident(c.relname),
                NOT has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE'),
                ARRAY(SELECT r FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) r
                    WHERE NOT has_table_privilege(c.oid, r)
                        AND (r = 'DELETE' OR NOT has_any_column_privilege(c.oid, r)))
            FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
            WHERE c.oid = ANY ($1::oid[]) ORDER BY 3
            """, [.text("{\(ids)}")])
        return try rows.compactMap { row in
            let id = row.string(0) ?? ""
            let lacking = try row.texts(4).compactMap(TableRight.init).filter { needed[id]?.contains($0) == true }
            let mayNotLock = try row.bool(3) == true
            guard mayNotLock || !lacking.isEmpty else { return nil }
            return Lack(
                id: id, role: row.string(1) ?? "", table: row.string(2) ?? "", rights: lacking, mayNotLock: mayNotLock)
        }
    }
}

/// A right on the database.
enum DatabaseRight: String {
    case create = "CREATE"
    /// Rows are staged in temporary tables.
    case temporary = "TEMPORARY"

    /// Returns the statement that gives the connection's role the right.
    func grant(_ connection: PostgresConnection) throws -> String {
        let names = try connection.execute("SELECT quote_ident(current_database()), quote_ident(current_user)")[0]
        return "GRANT \(rawValue) ON DATABASE \(names.string(0) ?? "") TO \(names.string(1) ?? "")"
    }

    /// Returns a message if the connection's role has not the right.
    func lack(_ connection: PostgresConnection) throws -> String? {
        let sql = "SELECT has_database_privilege(current_database(), '\(rawValue)'), quote_ident(current_user)"
        let found = try connection.execute(sql)[0]
        guard try found.bool(0) == false else { return nil }
        let role = found.string(1) ?? ""
        return "the role '\(role)' has no right to \(rawValue) on the database: \(try grant(connection))"
    }
}

extension PostgresStore {
    package func missingRights(_ needed: [String: Set<TableRight>]) throws -> [String: String] {
        try ask { connection in
            let tables = try tableDetails.reread(Set(needed.keys), in: connection).mapValues(\.id)
            let lacks = try TableRights(connection).lacks(
                tables.reduce(into: [:]) { $0[$1.value, default: []].formUnion(needed[$1.key] ?? []) })
            let lack = try DatabaseRight.temporary.lack(connection)
            return tables.compactMapValues { id in lacks.first { $0.id == id }?.message ?? lack }
        }
    }

    /// Creates the error for a transaction that failed, and changed nothing. Where the role lacks a right on a table,
    /// it names the role, the table and the GRANT.
    func failure(_ error: PostgresError) -> StoreError {
        let plain = StoreError(commit: error, store: description)
        guard error.state == .insufficientPrivilege, planning == nil else { return plain }
        // In every language, the message ends with the table's name.
        let tables = tableDetails.known { error.message.hasSuffix(" " + $0.relation) }
        let needed = tables.reduce(into: [:]) { $0[$1.id] = Set(TableRight.allCases) }
        // The transaction has failed, and its connection may still be in use.
        let message = try? ask(by: leaseConnections, within: Self.leaseAnswerLimit) { connection in
            guard var lack = try TableRights(connection).lacks(needed).first else {
                return try DatabaseRight.temporary.lack(connection)
            }
            // The lock comes before all else.
            if lack.mayNotLock { lack.rights = [] }
            return lack.message
        }
        guard let message else { return plain }
        return StoreError(.database, "the store \(description) cannot be written: \(message)")
    }
}
