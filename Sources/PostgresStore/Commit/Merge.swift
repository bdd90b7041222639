import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// Merges the staged rows of a run into the store's tables, with a few set-wise statements per table, inside the
/// caller's transaction. The rows are in temporary tables, which ``prepare()`` fills before any table is locked.
///
/// Deletions come first, from the last table to the first, so that a row which makes room for another does so in time.
/// Then new and different rows are written, from the first table to the last: parents before their children, as
/// PostgreSQL checks most foreign keys with each statement. One pass per table finds these rows and keeps them in the
/// table `difference`. From there they are written to the store's table and to the journal.
struct Merge {
    let connection: PostgresConnection
    let run: Int64
    /// The stack, with tables of the merge's own and counts of the merge's own: a commit may be repeated.
    let stack: StagedStack
    let store: PostgresStore
    /// The rows that requests mirror, even where they staged none of them this time.
    let mirrors: [MirroredRows]
    /// Notified of rows that leave the scopes of requests.
    let claims: ClaimWatch?
    /// Called with each change before it is made.
    let onChange: ((PlannedChange) throws -> Void)?
    /// True if what is replaced is kept in the tables' histories.
    var keepsHistory = false
    /// True if known rows are to become what they were, in their spelling as well: `1.0` and `1.00` are equal numbers.
    var restoresSpelling = false
    /// Rows that are to be deleted, whatever is staged.
    var removals: [Removal] = []
    /// What becomes of rows that the feed no longer has.
    let retention: Retention
    let progress = MergeProgress()
    let tables: MergeTables

    init(
        connection: PostgresConnection, run: Int64, stack: StagedStack, store: PostgresStore,
        mirrors: [MirroredRows], claims: ClaimWatch? = nil, retention: Retention = Retention(),
        onChange: ((PlannedChange) throws -> Void)? = nil
    ) {
        self.connection = connection
        self.run = run
        self.stack = stack.prepared
        self.store = store
        self.mirrors = mirrors
        self.claims = claims
        self.onChange = onChange
        self.retention = retention
        tables = MergeTables(connection, store.tableDetails)
    }

    // MARK: - Before the merge

    /// Copies the staged rows into temporary tables, and keeps the last of several rows with one key. No table of the
    /// store is locked.
    ///
    /// - Throws: ``StoreError`` where a row cannot be stored, `PostgresError` for all else.
    func prepare() throws {
        let targets = stack.parts.flatMap { $0.table.references.map(\.target.name) }
        try tables.load(stack.parts.map(\.table.table.name) + targets + mirrors.map(\.table))
        for part in stack.parts where part.counts.rows > 0 || !part.batches.isEmpty {
            try copy(part)
        }
        try keepLast(of: stack.parts.map { ($0.table, $0.counts) }, without: stack.skippedNumbers)
    }

    /// Locks every table that the merge may write against other writers, in the order of their names, and checks that
    /// they are still as they were when rows were staged. Readers do not wait.
    ///
    /// - Parameter turn: taken first.
    /// - Throws: ``StoreError`` naming the tables that have changed.
    func lock(_ turn: TableTurn) throws {
        var locked: Set<String> = []
        while true {
            let new = try Set(writtenTables().map(\.sql)).subtracting(locked)
            guard !new.isEmpty else { break }
            if locked.isEmpty {
                try turn.take(new)
                try connection.execute(LockWaits.setting(LockWaits.silence))
            }
            try connection.execute(
                "LOCK TABLE \(new.sorted().joined(separator: ", ")) IN SHARE ROW EXCLUSIVE MODE")
            locked.formUnion(new)
            // While the locks were waited for, a table may have got another child.
            try tables.renew()
        }
        try tables.check(stack.parts.map(\.table.table))
    }

    private func writtenTables() throws -> [TableDetails] {
        let staged = try stack.parts.filter { $0.counts.rows > 0 || $0.table.sync == .mirror }.map { part in
            try details(of: part.table.table.name)
        }
        let others = mirrors.map(\.table) + retention.writtenTables
        return try tables.withChildren(staged + others.compactMap { try tables.table($0) })
    }

    // MARK: - The merge

    /// Merges the stack, and checks what the constraints have deferred.
    ///
    /// - Throws: ``StoreError`` for rows that the store refuses, `PostgresError` for all else.
    func execute() throws -> MergeCounts {
        var counts = MergeCounts()
        try connection.execute("SET CONSTRAINTS ALL DEFERRED")
        try retention.check(stack)
        let parts = try orderedParts()
        try checkCircles(parts)
        counts += try skipExpiredRows()
        try prepareCycles(parts)
        let late = stack.tablesIdentifiedLate
        for part in parts where part.counts.rows > 0 && !part.table.references.isEmpty {
            try prepareReferences(part, late: late)
        }
        counts += try deleteMissingRows(late: late)
        let groups = parts.filter { $0.counts.rows > 0 }.groupedByKeys
        for (index, group) in groups.enumerated() {
            let table = group[0].table.table.name
            try refusing(in: table) {
                for part in group { try resolveReferences(part, among: parts, late: late) }
                if late.contains(table), !groups[(index + 1)...].contains(where: { $0[0].table.table.name == table }) {
                    counts += try deleteMissingRows(ofLate: table)
                }
                counts += try group.count == 1 && group[0].table.isTree ? mergeTree(group[0]) : merge(group)
            }
            counts.replaced += group.reduce(0) { $0 + ($1.table.isLookUp ? 0 : $1.counts.replaced) }
        }
        for part in parts where part.counts.rows > 0 {
            counts += try refusing(in: part.table.table.name) { try resolveCycles(part, among: parts) }
        }
        try deletePostponedRows()
        counts += progress.counts
        let changes = progress.changes
        // Rows that the feed has, but that were deleted or changed along with another: they are inserted again, or
        // PostgreSQL says why they cannot be. Appended rows are in the store already, and must not be appended again.
        for group in groups
        where group[0].table.identity != .none
            && progress.tablesTakenFromLate.contains(group[0].table.table.name)
        {
            try refusing(in: group[0].table.table.name) {
                let again = try merge(group)
                counts.inserted += again.inserted
                counts.updated += again.updated
                counts.unchanged = max(0, counts.unchanged - again.inserted - again.updated)
            }
        }
        // They have been counted before.
        progress.changes = changes
        counts += try deleteExpiredRows()
        _ = try refusing(in: nil) { try connection.execute("SET CONSTRAINTS ALL IMMEDIATE") }
        try writeHistory()
        return counts
    }

    /// Returns the parts, with those first whose rows others refer to: by the mapping, or by foreign keys of the store.
    private func orderedParts() throws -> [StagedStack.Part] {
        let parts = stack.partsByReference
        let places = Dictionary(grouping: parts.indices) { parts[$0].table.table.name }
        let names = try places.keys.reduce(into: [UInt32: String]()) { $0[try details(of: $1).oid] = $1 }
        let ordered = try parts.ordered { part in
            let parents = try details(of: part.table.table.name).parents.compactMap { names[$0] }
            let referred = Set(parents + part.table.references.map(\.target.name))
            return referred.flatMap { places[$0] ?? [] }.sorted()
        }
        // Rows that need others for their identity come after these, whatever the foreign keys say.
        let isInOrder = ordered.indices.allSatisfy { index in
            ordered[index].table.identifyingReferences.allSatisfy { reference in
                !ordered[(index + 1)...].contains { $0.table.table.name == reference.target.name }
            }
        }
        return isInOrder ? ordered : parts
    }

    /// Returns a table that the stack is known to have.
    func details(of name: String) throws -> TableDetails {
        guard let details = try tables.table(name) else {
            throw StoreError(.schema, "the store no longer has the table '\(name)'")
        }
        return details
    }

    /// Names the table in what PostgreSQL says of its rows.
    func refusing<Value>(in table: String?, _ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError where error.isAboutRows {
            let isCircle = error.breaksForeignKey && tables.isInCircle(error.schema, error.table)
            throw StoreError(refused: error, in: table, isCircle: isCircle)
        }
    }
}

extension StagedStack {
    /// The stack as one merge uses it: its tables are temporary ones, whose names no table of the store has.
    fileprivate var prepared: StagedStack {
        var stack = self
        for index in parts.indices {
            stack.parts[index].table.schema = StagingTable.temporarySchema
            stack.parts[index].table.name = StagingTable.temporaryPrefix + parts[index].table.name
            let counts = StagedCounts()
            counts.rows = parts[index].counts.rows
            counts.replaced = parts[index].counts.replaced
            counts.hasTwins = parts[index].counts.hasTwins
            counts.nulls = parts[index].counts.nulls
            stack.parts[index].counts = counts
        }
        return stack
    }
}
