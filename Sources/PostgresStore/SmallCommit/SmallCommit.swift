import FeedModel
import FeedStaging
import FeedStores

/// The commit of a small stack in two round trips, without temporary tables and table locks: a first flight of
/// statements writes the rows, a second one records the run and commits.
///
/// It has the effects of ``StackTransaction`` for simple stacks: at most ``mostRows`` rows of one table in memory, each
/// with a key, without dependents. Any other stack, and anything unexpected, is ``Unsuitable``.
struct SmallCommit {
    static let mostRows = 1000

    let store: PostgresStore
    let commit: Commit
    /// The run's duration so far.
    let seconds: () -> Double
    let part: SmallPart
    /// The rows that the stack mirrors, those of the part's scope; nil without any.
    let mirrored: MirroredRows?
    /// The one table, by each name that the commit has for it.
    let tables: [String: StoredTable]

    /// True if rows of the scope that are not staged are deleted.
    var deletes: Bool { mirrored != nil }

    /// The written tables.
    var written: [StoredTable] { [part.details] }

    /// - Throws: ``Unsuitable``; ``StoreError`` where the store cannot be used.
    init(
        _ stack: StagedStack, _ commit: Commit, _ store: PostgresStore, seconds: @escaping () -> Double = { 0 }
    ) throws {
        self.seconds = seconds
        self.store = store
        self.commit = commit
        try Self.check(stack, commit)
        let parts = stack.parts.filter { !$0.batches.isEmpty }
        guard let staged = parts.first else { throw Unsuitable("no rows") }
        try Unsuitable.unless(parts.count == 1, "rows of several requests or tables")
        let named = Set(commit.changedStates.flatMap(\.tables) + stack.writtenTables + commit.mirrors.map(\.table))
        tables = try named.reduce(into: [:]) { tables, name in
            guard let known = store.tableDetails.known(name) else { throw Unsuitable("a table that is not known yet") }
            tables[name] = known
        }
        guard let table = tables[staged.table.table.name] else { throw Unsuitable("a table that is not known yet") }
        try Unsuitable.unless(tables.values.allSatisfy { $0.id == table.id }, "several tables")
        part = try SmallPart(staged, table)
        mirrored = try Self.mirrored(stack, commit, part)
    }

    /// Returns the mirrored rows of the one table.
    private static func mirrored(_ stack: StagedStack, _ commit: Commit, _ part: SmallPart) throws -> MirroredRows? {
        let staged = stack.parts.filter { $0.table.sync == .mirror }.map { part in
            MirroredRows(table: part.table.table.name, scope: part.table.scope, window: part.table.window)
        }
        let table = part.details
        let mirrored = try Set(
            (staged + commit.mirrors).map { rows in
                try Unsuitable.unless(rows.window == nil, "a window")
                return MirroredRows(table: table.name, scope: rows.scope)
            })
        guard let rows = mirrored.first else { return nil }
        try Unsuitable.unless(
            mirrored.count == 1 && part.table.sync == .mirror && rows.scope == part.table.scope,
            "rows of a table in several scopes")
        try Unsuitable.unless(
            part.table.scope.keys.allSatisfy { table.column($0) != nil }, "a scope without its column")
        try Unsuitable.unless(
            table.children.allSatisfy { !$0.onDelete.changesChildren },
            "deletions that other tables' rows depend on")
        return rows
    }

    private static func check(_ stack: StagedStack, _ commit: Commit) throws {
        try Unsuitable.unless(stack.path == nil, "rows in a scratch database")
        let rows = stack.parts.reduce(0) { $0 + $1.batches.reduce(0) { $0 + $1.rows.rows.count } }
        try Unsuitable.unless(rows <= mostRows, "\(rows) rows")
        try Unsuitable.unless(
            stack.skipped.isEmpty && stack.skippedNumbers.isEmpty && stack.rejected?.isEmpty != false,
            "records that were left out")
        try Unsuitable.unless(stack.unmet.isEmpty, "expectations that the rows do not meet")
        try Unsuitable.unless(!commit.keepsHistory, "a history")
        try Unsuitable.unless(commit.shown == nil, "changes that were shown")
        try Unsuitable.unless(
            commit.retention.deletionMarks.isEmpty && commit.retention.expiries.isEmpty,
            "rows that are marked or expire")
        try Unsuitable.unless(!commit.changesClaims, "requests that claim other rows than before")
        try Unsuitable.unless(commit.forgottenKeys.isEmpty, "requests that are forgotten")
        try Unsuitable.unless(commit.busyHost == nil, "a host that asked for a pause")
    }
}

extension Commit {
    /// The requests with changed rows, in their state after the commit.
    var changedStates: [RequestState] { requests.filter { revalidated[$0.key] == nil } }
}

/// Thrown if a stack, its tables or its rows do not suit ``SmallCommit``. Nothing has been written, and
/// ``StackTransaction`` merges the stack and reports errors of its rows.
struct Unsuitable: Error, Equatable {
    var reason: String

    init(_ reason: String) { self.reason = reason }

    /// - Throws: `Unsuitable` where a condition does not hold.
    static func unless(_ condition: Bool, _ reason: @autoclosure () -> String) throws {
        if !condition { throw Unsuitable(reason()) }
    }
}
