package import FeedModel

/// An undo: restores the rows of a source to their state after one of its runs.
package struct Undo: Sendable {
    /// The record of the undo, with the keys and the columns of soft deletion that name and mark rows in the changelog.
    package var commit: Commit
    /// The run, of any source, after which the rows had the wanted state.
    package var run: Int64
    /// The digest of the changes that the user confirmed; nil without one.
    package var shown: ChangeDigest?

    package init(_ commit: Commit, to run: Int64) {
        self.commit = commit
        self.run = run
    }

    package var source: String { commit.report.source }

    /// Checks that the before-images of the runs were kept.
    ///
    /// - Parameters:
    ///   - runs: the source's runs after ``run`` that have committed rows.
    ///   - first: the first recorded run of any source.
    package func check(_ runs: [CommittedRun], first: Int64) throws {
        // An undo may have changed rows that the changelog does not tell of: those that are marked as deleted.
        guard runs.contains(where: { $0.changedRows || $0.restoredRun != nil }) else {
            throw StoreError(
                .history,
                "no run of source '\(source)' after run \(run) has changed rows, so there is nothing to undo; `tributary "
                    + "history \(source)` lists its runs")
        }
        guard run >= first - 1 else {
            throw StoreError(
                .history,
                "runs before \(first) are deleted, so the source '\(source)' cannot be undone to run \(run); "
                    + "history of [store] says how long it is kept")
        }
        guard let bare = runs.last(where: { $0.changedRows && !$0.hasHistory }) else { return }
        guard runs.contains(where: { $0.number > bare.number && $0.changedRows }) else {
            throw StoreError(
                .history,
                "run \(bare.number) of source '\(source)' cannot be undone: it kept no history in this store. With "
                    + "keep_history = true, later runs can be undone")
        }
        throw StoreError(
            .history,
            "run \(bare.number) of source '\(source)' kept no complete history in this store, or the type of a column has changed since; "
                + "the source can be undone to run \(bare.number) or a later one"
        )
    }

    /// The error for changes that differ from the confirmed ones.
    package var changedSinceShown: StoreError {
        StoreError(.history, "the store has changed since the changes were shown; nothing is undone")
    }

    /// The error for rows that are not as the source has left them.
    ///
    /// - Parameters:
    ///   - keys: some of the rows, by their keys.
    ///   - count: the number of all such rows of the table.
    package func changedSince(_ table: String, keys: [String], count: Int) -> StoreError {
        StoreError(
            .history,
            "another source or program has changed \(Self.rows(count, of: table)) that the source '\(source)' wrote: "
                + Self.list(keys, of: count) + "; nothing is undone")
    }

    /// The error for rows that would change along, and are not the source's.
    package func touchesOthers(_ table: String, keys: [String], count: Int) -> StoreError {
        StoreError(
            .history,
            "\(Self.rows(count, of: table)) that the undone runs of source '\(source)' had not written would also change, "
                + "by a foreign key or a trigger: \(Self.list(keys, of: count)); nothing is undone")
    }

    /// The error for a table that no longer takes the rows as they were.
    package func retyped(_ table: String, _ columns: [String]) -> StoreError {
        StoreError(
            .history,
            "the type of \(columns.map { "'\($0)'" }.joined(separator: ", ")) in table '\(table)' has changed since, so its "
                + "former rows do not fit; nothing is undone, and only runs after that change can be")
    }

    /// The error for a table whose key differs from that of its history.
    package func otherKey(_ table: String, _ columns: [String]) -> StoreError {
        StoreError(
            .history,
            "the key of table '\(table)' is (\(columns.joined(separator: ", "))), and was another one when the source "
                + "'\(source)' wrote it, so its rows cannot be distinguished; nothing is undone")
    }

    /// The error for rows without a key.
    package func nullKey(_ table: String, _ columns: [String]) -> StoreError {
        StoreError(
            .history,
            "runs of the source '\(source)' have changed rows of table '\(table)' that have no value in the key "
                + "(\(columns.joined(separator: ", "))), and such rows cannot be found again; nothing is undone")
    }

    /// The error for a table that is gone.
    package func missing(_ table: String) -> StoreError {
        StoreError(
            .history,
            "the table '\(table)', which the source '\(source)' has written, no longer exists; nothing is undone")
    }

    /// The error for rows that were not restored although all statements succeeded.
    package func notRestored(_ table: String, keys: [String], count: Int) -> StoreError {
        StoreError(
            .history,
            "\(Self.rows(count, of: table)) cannot be restored, because a trigger of the table or another column's "
                + "type changes them: \(Self.list(keys, of: count)); nothing is undone")
    }

    /// The error for a table whose rows have no identity.
    package static func noKey(_ table: String) -> StoreError {
        StoreError(
            .history,
            "the rows of table '\(table)' cannot be distinguished for its history: give it a primary key, or a unique index "
                + "over columns that are NOT NULL")
    }

    private static func rows(_ count: Int, of table: String) -> String {
        count == 1 ? "a row of table '\(table)'" : "\(count) rows of table '\(table)'"
    }

    /// The number of rows that an error names.
    package static let namedRows = 5

    private static func list(_ keys: [String], of count: Int) -> String {
        (count == 1 ? "key " : "keys ") + keys.joined(separator: ", ")
            + (count > keys.count ? " and \(count - keys.count) more" : "")
    }
}
