package import FeedModel
package import FeedStaging

/// A merge that can take staged rows out again.
package protocol RecordSkipping {
    /// Moves staged rows, `s`, to a table of the merge.
    ///
    /// - Returns: that table; nil where there are none.
    func skip(_ part: StagedStack.Part, where condition: String) throws -> String?

    /// Returns the number of rows of a table of the merge.
    func count(_ rows: String) throws -> Int

    /// The table of the numbers of records that have the key of another one: `record`, and the other's `row`.
    func twins(of table: StagingTable) -> String

    /// Returns a condition that two rows of a staged table have the same key.
    func isSame(_ table: StagingTable, _ row: String, _ other: String) -> String
}

extension RecordSkipping {
    /// Skips the staged records within skipped ones, and what else is staged for these.
    ///
    /// - Parameter skipped: the table of the skipped rows of a part.
    /// - Returns: the number of the records within.
    package func skipRecords(
        in part: StagedStack.Part, _ skipped: String, of expiry: Retention.Expiry, among stack: StagedStack
    ) throws -> Int {
        var number = 0
        var open = [(part: part, rows: skipped)]
        while let outer = open.popLast() {
            for inner in stack.parts where inner.counts.rows > 0 && !inner.table.isLookUp {
                let links = expiry.links(from: inner.table, to: outer.part.table)
                let conditions = links.map { link in
                    switch link {
                    case .record(let column):
                        let twins =
                            outer.part.counts.hasTwins
                            ? " UNION ALL SELECT t.record FROM \(twins(of: outer.part.table)) t JOIN \(outer.rows) r "
                                + "ON r.\(StagingTable.row) = t.row" : ""
                        return "s.\(column.sqlIdentifier) IN (SELECT \(StagingTable.record) FROM \(outer.rows)\(twins))"
                    case .value(let column, let key):
                        return "s.\(column.sqlIdentifier) IN (SELECT \(key.sqlIdentifier) FROM \(outer.rows))"
                    case .sameKey:
                        return "EXISTS (SELECT 1 FROM \(outer.rows) r WHERE \(isSame(inner.table, "s", "r")))"
                    }
                }
                guard !conditions.isEmpty, let rows = try skip(inner, where: conditions.joinedConditions("OR"))
                else { continue }
                if !links.contains(.sameKey) { number += try count(rows) }
                open.append((inner, rows))
            }
        }
        return number
    }
}
