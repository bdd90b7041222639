package import FeedModel
import FeedStaging

/// The claims of the requests that have written a store's tables, asked inside a transaction.
///
/// Who adds a claim on a table's rows holds a lock on the table that no other writer shares, until the claim is in the
/// store. So whoever asks about a table once it holds a lock of a writer knows all claims.
package struct CommitClaims {
    private let ledger: Ledger
    /// The tables of the store, inside the transaction.
    private let tables: any ClaimedTables

    package init(_ ledger: Ledger, _ tables: any ClaimedTables) {
        self.ledger = ledger
        self.tables = tables
    }

    /// Returns the sets of columns, in lower case, that scopes of a table's rows name.
    package func columns(of table: String) throws -> [Set<String>] { try ledger.claims.columns(of: table) }

    /// Returns how a table compares these columns, and the columns and values of scopes.
    package func comparison(
        of table: String, _ columns: Set<String> = [], scopes: [[String: String]] = []
    ) throws -> TableComparison {
        try tables.comparison(of: table, columns: Set(columns.map { $0.lowercased() }), scopes: scopes)
    }

    /// Returns the requests whose last commit wrote rows of the table, in their order.
    package func requests(of table: String) throws -> [RequestID] {
        try candidates(of: table, within: [:]).map(\.request)
    }

    private func candidates(of table: String, within scope: [String: String]) throws -> [Claims.Claim] {
        try ledger.claims.candidates(
            of: table, within: scope, isFolded: try tables.folds(Set(scope.keys), of: table))
    }

    /// Returns the requests whose scope has exactly these values.
    func requests(of table: String, exactly values: [String: ComparedValue]) throws -> [RequestID] {
        let found = try ledger.claims.candidates(
            of: table, exactly: values, isFolded: try tables.folds(Set(values.keys), of: table))
        let comparison = try comparison(of: table, Set(values.keys), scopes: found.map(\.scope))
        return found.filter { comparison.values(of: $0.scope) == values }.map(\.request)
    }

    /// Returns the requests that have written some of the rows that a stack mirrors.
    ///
    /// - Parameters:
    ///   - source: the source of the stack.
    ///   - check: called with the requests of other sources.
    /// - Throws: the error of `check`.
    package func overlappingRequests(
        of source: String, _ mirrored: Set<MirroredRows>, check: Commit.MirrorCheck?
    ) throws -> Set<RequestID> {
        try mirrored.reduce(into: []) { all, rows in
            let candidates = try candidates(of: rows.table, within: rows.scope)
            all.formUnion(try overlappingRequests(of: source, rows, among: candidates, check: check))
        }
    }

    /// Does the same for the candidates of one scope.
    package func overlappingRequests(
        of source: String, _ rows: MirroredRows, among candidates: [Claims.Claim], check: Commit.MirrorCheck?
    ) throws -> [RequestID] {
        let comparison =
            rows.scope.isEmpty
            ? TableComparison() : try comparison(of: rows.table, scopes: [rows.scope] + candidates.map(\.scope))
        let overlapping = candidates.filter { comparison.mayShareRows(rows.scope, $0.scope) }.map(\.request)
        try check?(rows, overlapping.filter { $0.source != source }, comparison)
        return overlapping
    }

    /// Returns the requests that have written tables which are empty now, and which the stack will fill. The rows of
    /// these requests have been deleted, and once the stack is merged the tables no longer show it.
    func writersOfEmptiedTables(filledBy stack: StagedStack) throws -> Set<RequestID> {
        let filling = Set(stack.parts.filter { $0.counts.rows > 0 }.map(\.table.table.name))
        return try filling.reduce(into: []) { writers, table in
            if try !tables.hasRows(table) { writers.formUnion(try requests(of: table)) }
        }
    }
}

/// The tables that requests claim, as a transaction sees them.
package protocol ClaimedTables {
    /// Returns how a table compares columns, whose names are in lower case, and the columns and values of scopes.
    func comparison(of table: String, columns: Set<String>, scopes: [[String: String]]) throws -> TableComparison

    /// Returns true if texts that the columns hold for equal have one folded form (``ScopePlace``).
    func folds(_ columns: Set<String>, of table: String) throws -> Bool

    func hasRows(_ table: String) throws -> Bool
}
