package import FeedModel

/// What a store is to forget of a source, and what is known of its rows besides the changelog.
package struct Purge: Sendable {
    package var source: String
    /// The columns by which the source's rows are told apart, as it is declared, by table in lower case. Without any, the
    /// store's keys are tried.
    package var keys: [String: [String]]
    /// The rows that the source mirrors alone: they are its own, whatever the changelog still knows.
    package var mirrored: [ScopedRows]
    /// The run as which the purge is recorded. It forgets the states of all requests.
    package var commit: Commit
    /// That of what was shown to whoever wants it; nil where nothing was.
    package var shown: ChangeDigest?

    package init(source: String, keys: [String: [String]] = [:], mirrored: [ScopedRows] = [], commit: Commit) {
        self.source = source
        self.keys = keys
        self.mirrored = mirrored
        self.commit = commit
    }

    /// Returns the scopes of a table that the source mirrors alone.
    package func scopes(of table: String) -> [[String: String]] {
        mirrored.filter { $0.table.lowercased() == table.lowercased() }.map(\.scope)
    }
}

/// What a purge has deleted of a table, and what it has left.
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

/// What a purge has done, or would do.
package struct PurgeReport: Sendable {
    package var tables: [PurgedTable] = []
    package var run: RunReport
    /// The source's last commit before; 0 where it has none.
    package var lastCommit: Int64 = 0

    package init(run: RunReport) { self.run = run }

    /// What tells whether another purge would delete the same rows.
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
    /// - Parameter isTrial: true where everything is taken back, and only the report is wanted.
    /// - Throws: ``StoreError`` naming rows that refer to those to be deleted; the store is then unchanged.
    func purge(_ purge: Purge, isTrial: Bool) throws -> PurgeReport
}
