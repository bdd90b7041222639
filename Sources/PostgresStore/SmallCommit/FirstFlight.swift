import FeedModel
import FeedStaging
import FeedStores

/// The statements that begin the transaction of a small commit and write its rows, and their results.
///
/// The tables' definitions are read after their rows have been written: from then on, no other session can change
/// them.
struct FirstFlight {
    /// The longest wait for a lock. A commit that waits longer takes the general way, whose turn lets only one commit
    /// of this process wait at the server for a table that another session keeps locked.
    private static let lockLimit = Duration.milliseconds(300)

    private let commit: SmallCommit
    private let connection: PostgresConnection
    private let ledger: Ledger

    init(_ commit: SmallCommit, _ connection: PostgresConnection) {
        self.commit = commit
        self.connection = connection
        ledger = connection.ledger(commit.store.leases)
    }

    struct Answers {
        var run: RecordedRun
        var counts: SmallPart.Counts
        /// The claims that may overlap the mirrored rows.
        var candidates: [Claims.Claim] = []
        /// The columns, in lower case, that scopes of other requests name.
        var scopeColumns: Set<String> = []
        var requests: [String: RequestRow]
    }

    // MARK: - The statements

    func statements() throws -> [PostgresStatement] {
        let states = commit.commit.requests
        return try [
            PostgresStatement("BEGIN ISOLATION LEVEL READ COMMITTED"), opening,
            commit.part.writing(deletes: commit.deletes), claims(), look,
        ] + (states.isEmpty ? [] : [ledger.requests.query(commit.commit, locks: true).prepared])
    }

    /// The settings of the transaction, and the number of the run.
    private var opening: PostgresStatement {
        let settings =
            commit.store.settings(lock: Self.lockLimit)
            + [("extra_float_digits", "1"), ("bytea_output", "hex"), ("plan_cache_mode", "force_generic_plan")]
        let texts = settings.indices.map { "set_config('\(settings[$0].0)', $\($0 + 1), true)" }
        return PostgresStatement(
            "SELECT \(ledger.runs.drawing), \(texts.joined(separator: ", "))", settings.map { .text($0.1) },
            isPrepared: true
        )
    }

    /// Reads the claims on mirrored rows, or the columns of the claims on the table. The transaction has written to the
    /// table, so that nobody adds another one.
    private func claims() throws -> PostgresStatement {
        let table = commit.part.details
        guard let rows = commit.mirrored else { return try ledger.claims.columnsQuery(of: table.name).prepared }
        return try ledger.claims.query(
            of: rows.table, within: rows.scope, isFolded: table.folds(rows.scope.keys)
        ).prepared
    }

    /// Reads the lease, which no other daemon can take over before the commit ends, and the tables.
    private var look: PostgresStatement {
        let source = commit.commit.report.source
        let lease = commit.store.leases.lease(of: source)
        return PostgresStatement(
            """
            WITH lease AS MATERIALIZED (
                SELECT FROM tributary_source WHERE source = $2 AND holder = $3 AND lease = $4 FOR NO KEY UPDATE)
            SELECT $3::text IS NULL OR EXISTS (SELECT FROM lease),
                c.oid, \(Catalog.mark), pg_table_is_visible(c.oid), \(Catalog.hasOwnRules)
            FROM pg_catalog.pg_class c WHERE c.oid = ANY ($1::oid[])
            """,
            [
                oids(Array(commit.tables.values)), .text(source), (lease?.holder).map { .text($0) },
                (lease?.number).map { .integer($0) },
            ], isPrepared: true)
    }

    private func oids(_ tables: [StoredTable]) -> PostgresValue {
        .text("{\(tables.map(\.id).joined(separator: ","))}")
    }

    // MARK: - The answers

    /// - Throws: ``Unsuitable`` if anything is not as expected; ``StoreError`` where the lease was lost.
    func answers(_ results: [PostgresResult]) throws -> Answers {
        var results = results.dropFirst()
        let run = try RunRecords.drawn(commit.commit.report, results.removeFirst()[0])
        var answers = Answers(run: run, counts: try SmallPart.Counts(results.removeFirst()[0]), requests: [:])
        let claims = results.removeFirst()
        if commit.mirrored == nil {
            answers.scopeColumns = claims.map(Claims.columns).reduce(into: []) { $0.formUnion($1) }
        } else {
            answers.candidates = claims.map(Claims.claim)
            answers.scopeColumns = answers.candidates.map(\.scope).columns
        }
        try check(tables: results.removeFirst())
        try check(answers.counts, of: commit.part)
        let stored =
            try results.popFirst().map { try $0.map { try OwnTables.requests.reader.row($0, .postgres) } } ?? []
        answers.requests = stored.reduce(into: [:]) { $0[$1.state.key] = $1 }
        return answers
    }

    private func check(_ counts: SmallPart.Counts, of part: SmallPart) throws {
        try Unsuitable.unless(
            counts.different == counts.updated, "rows that another commit has changed, or that leave a scope")
        try Unsuitable.unless(counts.outside == 0, "rows outside of their scope")
        // Whoever has written it must send its rows again.
        let isOthers =
            try counts.wasEmpty
            && commit.store.claims(connection).requests(of: part.details.name).contains {
                !commit.commit.changedRequests.contains($0)
            }
        try Unsuitable.unless(!isOthers, "a table that was empty")
    }

    private func check(tables result: PostgresResult) throws {
        guard let first = result.first else { throw Unsuitable("tables that are gone") }
        guard try first.bool(0) == true else { throw StoreError.leaseLost(commit.commit.report.source) }
        let written = Set(commit.written.map(\.id))
        var found: [TableID: (mark: String?, isVisible: Bool?)] = [:]
        for row in result {
            let id = row.string(1) ?? ""
            found[id] = (row.string(2), try row.bool(3))
            try Unsuitable.unless(
                try row.bool(4) == false || !written.contains(id), "triggers, rules or policies of a table")
        }
        for table in commit.tables.values {
            try Unsuitable.unless(
                found[table.id]?.mark == table.mark && found[table.id]?.isVisible == table.isVisible,
                "a table that has changed")
        }
    }
}
