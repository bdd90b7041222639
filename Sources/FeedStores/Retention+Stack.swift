package import FeedModel
package import FeedStaging
package import Foundation

extension Retention {
    /// The time of the commit as a mapping's `datetime` would be staged: `2026-11-21T08:30:00Z`.
    package var timeText: String { Self.text(of: time) }

    /// Returns a point in time as a mapping's `datetime` would be staged, with fractions of seconds dropped.
    package static func text(of date: Date) -> String {
        let second = Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
        return UTCText.iso8601(second) ?? second.formatted(.iso8601)
    }

    /// - Throws: ``StoreError`` if a table has no column to mark rows with, or where staged rows fill it themselves.
    package func check(_ stack: StagedStack) throws {
        guard !deletionMarks.isEmpty else { return }
        for part in stack.parts {
            let table = part.table
            guard let gone = deletionMark(of: table.table.name) else { continue }
            try check(table.table, has: gone)
            if table.supplies(gone) {
                throw StoreError(
                    .schema,
                    "the rows for table '\(table.table.name)' have a value for the column '\(gone)', which 'deleted' names "
                        + "and which is set when a row is gone; leave it out of them")
            }
        }
    }

    /// - Throws: ``StoreError`` if a table has no such column to mark rows with.
    package func check(_ table: StoredTable, has gone: String) throws {
        guard table.column(gone) == nil else { return }
        throw StoreError(
            .schema,
            "table '\(table.name)' has no column '\(gone)', which 'deleted' names; add it, for dates and without NOT NULL"
        )
    }

    /// The addition to a unique constraint's error if a marked row may hold the value.
    package func hint(on table: StoredTable) -> String? {
        deletionMark(of: table.name).map { gone in
            "; a row that is gone keeps its values, so let the constraint hold for the others only: CREATE UNIQUE INDEX … "
                + "ON \(table.name.sqlIdentifier) (…) WHERE \(gone.sqlIdentifier) IS NULL"
        }
    }
}
