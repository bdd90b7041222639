import PostgresClient

/// A foreign key, seen from the parent's side: what a parent's change does to its children.
struct StoreReference: Sendable {
    enum Action: String {
        /// Both refuse; most keys do so with each statement.
        case noAction = "a"
        case restrict = "r"
        case cascade = "c"
        case setNull = "n"
        case setDefault = "d"

        var changesChildren: Bool { self != .noAction && self != .restrict }
    }

    /// The child's table.
    var child: UInt32
    var columns: [String]
    /// The parent's table.
    var parent: UInt32
    var targets: [String]
    var onDelete: Action
    var onUpdate: Action
    var isDeferrable: Bool

    func action(on change: ChangedRows.Change) -> Action { change == .delete ? onDelete : onUpdate }

    /// True if a parent cannot go before its child has left, unless the child goes along.
    var holdsParents: Bool { onDelete != .noAction || !isDeferrable }

    /// The keys of partitions are those of their table.
    static let sql = """
        SELECT c.conrelid, c.confrelid,
            ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (number, place)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place),
            ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k (number, place)
                JOIN pg_catalog.pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.place),
            c.confdeltype, c.confupdtype, c.condeferrable
        FROM pg_catalog.pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 ORDER BY c.conrelid, c.oid
        """

    init(_ row: PostgresRow) throws {
        child = UInt32(try row.int64(0) ?? 0)
        parent = UInt32(try row.int64(1) ?? 0)
        columns = try row.stringArray(2)?.compactMap(\.self) ?? []
        targets = try row.stringArray(3)?.compactMap(\.self) ?? []
        onDelete = Action(rawValue: row.string(4) ?? "") ?? .noAction
        onUpdate = Action(rawValue: row.string(5) ?? "") ?? .noAction
        isDeferrable = try row.bool(6) ?? false
    }
}
