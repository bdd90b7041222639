import PostgresClient

/// A foreign key, seen from the parent's side: what a parent's change does to its children.
struct StoreReference: Sendable {
    enum Action: String {
        /// Both refuse; most keys do so with each statement.
        case nothing = "a"
        case restrict = "r"
        case cascade = "c"
        case setNull = "n"
        case setDefault = "d"

        var changesChildren: Bool { self != .nothing && self != .restrict }
    }

    var name: String
    /// The child's table, as SQL names it.
    var child: String
    var columns: [String]
    /// The parent's table, as SQL names it.
    var parent: String
    var targets: [String]
    var onDelete: Action
    var onUpdate: Action
    var isDeferrable: Bool

    func action(on change: ChangedRows.Change) -> Action { change == .delete ? onDelete : onUpdate }

    /// True if a parent cannot go before its child has left, unless the child goes along.
    var holdsParents: Bool { onDelete != .nothing || !isDeferrable }

    /// The keys of partitions are those of their table.
    static let sql = """
        SELECT c.conname, c.conrelid::regclass::text, c.confrelid::regclass::text,
            ARRAY(SELECT a.attname::text FROM unnest(c.conkey) WITH ORDINALITY k (number, place)
                JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.number ORDER BY k.place),
            ARRAY(SELECT a.attname::text FROM unnest(c.confkey) WITH ORDINALITY k (number, place)
                JOIN pg_attribute a ON a.attrelid = c.confrelid AND a.attnum = k.number ORDER BY k.place),
            c.confdeltype, c.confupdtype, c.condeferrable
        FROM pg_constraint c WHERE c.contype = 'f' AND c.conparentid = 0 ORDER BY 2, 1
        """

    init(_ row: PostgresRow) throws {
        name = row.string(0) ?? ""
        child = row.string(1) ?? ""
        parent = row.string(2) ?? ""
        columns = try row.stringArray(3)?.compactMap { $0 } ?? []
        targets = try row.stringArray(4)?.compactMap { $0 } ?? []
        onDelete = Action(rawValue: row.string(5) ?? "") ?? .nothing
        onUpdate = Action(rawValue: row.string(6) ?? "") ?? .nothing
        isDeferrable = try row.bool(7) ?? false
    }
}
