package import FeedModel

/// The rows and states of a source that a purge deletes.
package struct Purge: Sendable {
    package var source: String
    /// The keys by which the changelog may name the rows of the source, and those of others. Where the source declares
    /// none, the store's keys are tried.
    package var keys: DeclaredKeys
    /// The rows that the source mirrors alone: they are its own, whatever the changelog still knows.
    package var mirrored: [ScopedRows]
    /// The rows that other declared sources mirror: they stay, whoever has written them.
    package var kept: [ScopedRows] = []
    /// The run as which the purge is recorded. It forgets the states of all requests.
    package var commit: Commit
    /// The digest of the deletions that the user confirmed; nil without one.
    package var shown: ChangeDigest?

    package init(
        source: String, keys: DeclaredKeys = DeclaredKeys(), mirrored: [ScopedRows] = [], commit: Commit
    ) {
        self.source = source
        self.keys = keys
        self.mirrored = mirrored
        self.commit = commit
    }

}

/// The rows of a table that a purge has deleted, and those that it has left.
package struct PurgedTable: Sendable, Equatable {
    package var name: String
    package var deleted = 0
    /// Rows that other sources have written, too.
    package var shared = 0
    /// Rows of which the changelog does not tell who wrote them.
    package var unknown = 0
    /// True where no key of the table tells which rows the changelog means.
    package var lacksKey = false

    package init(name: String) { self.name = name }
}

/// The result of a purge, or of its dry run.
package struct PurgeReport: Sendable {
    package var tables: [PurgedTable] = []
    package var run: RunReport
    /// The other sources that write tables of which rows were deleted: they are due, and fetch their feeds in full.
    package var refetched: Set<String> = []
    /// The source's last commit before; 0 if it has none.
    package var lastCommit: Int64 = 0

    package init(run: RunReport) { self.run = run }

    /// Identifies the deletions, to compare two purges.
    package var digest: ChangeDigest {
        var digest = ChangeDigest()
        digest.add("\(lastCommit)")
        for table in tables { digest.add("\(table.name) \(table.deleted) \(table.shared) \(table.unknown)") }
        return digest
    }

    package mutating func add(_ table: PurgedTable) {
        tables.append(table)
        run.counts.deleted += table.deleted
    }
}

/// A store that can forget a source.
package protocol StorePurges: AnyObject, Sendable {
    /// Deletes the rows that only one source has written, and all that is remembered of it, and changelogs it as a run: one
    /// transaction. The caller has the source's claim.
    ///
    /// - Parameter isTrial: true if everything is taken back, and only the report is wanted.
    /// - Throws: ``StoreError`` naming rows that refer to those to be deleted; the store is then unchanged.
    func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport
}
