import FeedModel
import FeedStaging
import FeedStores
import Merging
import Ledger
import PostgresClient

/// The commit of a small stack in two round trips, without temporary tables and table locks: a first flight of
/// statements writes the rows, a second one records the run and commits.
///
/// It has the effects of ``StackTransaction`` for simple stacks: at most ``mostRows`` rows in memory, each with a
/// key, in tables without dependents. Any other stack, and anything unexpected, is ``Unsuitable``.
struct SmallCommit {
    /// A mirror: its rows that are not staged are deleted.
    struct Deletion {
        let rows: MirroredRows
        let details: TableDetails
        /// Nil if no row of the table is staged.
        let part: SmallPart?
    }

    enum Step {
        case delete(Deletion)
        case write(SmallPart, deletes: Bool)
    }

    static let mostRows = 1000

    let store: PostgresStore
    let commit: Commit
    /// The run's duration so far.
    let seconds: () -> Double
    /// The writes, in the order of the changelog.
    let steps: [Step]
    /// Each once.
    let mirrored: [MirroredRows]
    /// The written tables, and those of the commit's requests, by their names.
    let tables: [String: TableDetails]

    /// - Throws: ``Unsuitable``; ``StoreError`` where the store cannot be used.
    init(
        _ stack: StagedStack, _ commit: Commit, _ store: PostgresStore, seconds: @escaping () -> Double = { 0 }
    ) throws {
        self.seconds = seconds
        self.store = store
        self.commit = commit
        try Self.check(stack, commit)
        let requested = Set(commit.changedStates.flatMap(\.tables))
        let named = requested.union(stack.parts.map(\.table.table.name)).union(commit.mirrors.map(\.table))
        tables = try named.reduce(into: [:]) { tables, name in
            guard let known = store.tableDetails.known(name) else { throw Unsuitable("a table that is not known yet") }
            tables[name] = known
        }
        let known = tables
        let details = { (name: String) throws -> TableDetails in
            guard let table = known[name] else { throw Unsuitable("a table that is not known yet") }
            return table
        }
        let parts = try stack.parts.filter { !$0.batches.isEmpty }.map { part in
            try SmallPart(part, details(part.table.table.name))
        }
        try Unsuitable.unless(Set(parts.map(\.details.oid)).count == parts.count, "several parts of one table")
        let deletions = try Self.deletions(stack, commit, parts, details)
        let written = Set(parts.map(\.details.oid) + deletions.map(\.details.oid))
        try Unsuitable.unless(!written.isEmpty, "no rows")
        for deletion in deletions { try deletion.details.checkDeletions(beside: written) }
        mirrored = deletions.map(\.rows)
        steps = Self.steps(parts, deletions)
    }

    private static func check(_ stack: StagedStack, _ commit: Commit) throws {
        try Unsuitable.unless(stack.path == nil, "rows in a scratch database")
        let rows = stack.parts.reduce(0) { $0 + $1.batches.reduce(0) { $0 + $1.rows.rows.count } }
        try Unsuitable.unless(rows <= mostRows, "\(rows) rows")
        try Unsuitable.unless(stack.skipped.isEmpty && stack.skippedNumbers.isEmpty, "records that were left out")
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

    /// Returns the mirrors in the order of their deletions. Children of a table are not mirrored beside it.
    private static func deletions(
        _ stack: StagedStack, _ commit: Commit, _ parts: [SmallPart], _ details: (String) throws -> TableDetails
    ) throws -> [Deletion] {
        var found: [Deletion] = []
        var seen: Set<MirroredRows> = []
        let staged = stack.parts.filter { $0.table.sync == .mirror }.map { part in
            MirroredRows(table: part.table.table.name, scope: part.table.scope, window: part.table.window)
        }
        for rows in staged + commit.mirrors {
            try Unsuitable.unless(rows.window == nil, "a window")
            let table = try details(rows.table)
            let rows = MirroredRows(table: table.name, scope: rows.scope)
            guard seen.insert(rows).inserted else { continue }
            try Unsuitable.unless(table.kind == .table && !table.isPartition, "a partitioned table")
            try Unsuitable.unless(rows.scope.keys.allSatisfy { table.column($0) != nil }, "a scope without its column")
            let part = parts.first { $0.details.oid == table.oid }
            try Unsuitable.unless(
                part.map { $0.table.sync == .mirror && $0.table.scope == rows.scope } ?? true,
                "rows of a table in several scopes")
            found.append(Deletion(rows: rows, details: table, part: part))
        }
        // Together in the place of the first, as the merge has them.
        let places = Dictionary(found.enumerated().map { ($1.details.oid, $0) }) { first, _ in first }
        let ordered = found.enumerated().sorted { left, right in
            let (one, other) = (places[left.element.details.oid] ?? 0, places[right.element.details.oid] ?? 0)
            return (one, left.offset) < (other, right.offset)
        }
        return ordered.map(\.element).reversed()
    }

    /// Returns deletions first, and then the parts with those first to which others refer. A deletion right before the
    /// part's own rows becomes one statement with them.
    private static func steps(_ parts: [SmallPart], _ deletions: [Deletion]) -> [Step] {
        let ordered = parts.ordered { part in
            parts.indices.filter { part.details.parents.contains(parts[$0].details.id) }
        }
        let isTogether = deletions.last?.part.map { $0.details.oid == ordered.first?.details.oid } ?? false
        let first = (isTogether ? deletions.dropLast() : deletions[...]).map { Step.delete($0) }
        return first
            + ordered.enumerated().map { Step.write($1, deletes: isTogether && $0 == 0) }
    }

    /// The written tables, in the order in which they are locked.
    var written: [TableDetails] {
        let all = steps.map { step in
            switch step {
            case .delete(let deletion): deletion.details
            case .write(let part, _): part.details
            }
        }
        return Dictionary(all.map { ($0.oid, $0) }) { first, _ in first }.values.sorted { $0.oid < $1.oid }
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
