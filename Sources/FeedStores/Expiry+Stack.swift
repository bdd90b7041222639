package import FeedModel
package import FeedStaging
import Foundation

extension Retention.Expiry {
    /// Returns true if some of a part's staged rows may have expired.
    package func concerns(_ part: StagedStack.Part) -> Bool {
        part.counts.rows > 0 && !part.table.isLookUp && part.table.table.name.lowercased() == table.lowercased()
            && part.table.scope == scope && part.table.supplies(column)
    }

    /// The end as a point in time: `2026-11-21T08:30:00Z`.
    package var endTime: String { isOfDays ? endDay : Retention.text(of: end) }

    /// Rows with a text below this one may have expired. It has no zone at its end, so that a time within its last second
    /// is not below it, however many decimals that has.
    package var endText: String { isOfDays ? endDay : String(endTime.dropLast()) }

    /// The day of the end: `2026-11-21`.
    package var endDay: String { String(Retention.text(of: end).prefix(10)) }

    /// Creates the error for a column that has no dates.
    ///
    /// - Parameter type: the column's type; nil if the column does not exist.
    package func problem(type: String?) -> StoreError {
        let found = type.map { "is \($0.isEmpty ? "of no type" : $0), which holds no dates" } ?? "does not exist"
        return StoreError(
            .schema,
            "the column '\(column)' of table '\(table)', which 'expire' names, \(found); name one with dates, as a "
                + "mapping's types \"date\" and \"datetime\" store them")
    }
}

extension Retention.Expiry {
    /// The reason why a staged row leaves with another one that has expired or is deleted.
    package enum Link: Equatable {
        /// The staged column holds the other's number.
        case record(String)
        /// The column holds the other's key.
        case value(String, key: String)
        /// Both are rows of one table, and have its key.
        case sameKey
    }
}

extension [Retention.Expiry.Descendant] {
    /// Returns the links from staged rows to the rows that they are mapped within, or that have the same key.
    package func links(from inner: StagingTable, to outer: StagingTable) -> [Retention.Expiry.Link] {
        let records = inner.references.filter {
            $0.isByRecord && $0.missing == .discard && $0.target.name == outer.table.name && outer.numbersRecords
        }.map { Retention.Expiry.Link.record($0.lookups[0].staged) }
        let key = outer.table.primaryKey
        let values = filter { descendant in
            descendant.table.lowercased() == inner.table.name.lowercased()
                && descendant.parent.lowercased() == outer.table.name.lowercased() && key.count == 1
                && outer.supplies(key[0]) && inner.supplies(descendant.column)
                && !inner.references.contains { $0.column.name.lowercased() == descendant.column.lowercased() }
        }.map { Retention.Expiry.Link.value($0.column, key: key[0]) }
        let isTwin =
            inner.name != outer.name && inner.table.name == outer.table.name && !inner.keyColumns.isEmpty
            && inner.keyColumns == outer.keyColumns
        return records + values + (isTwin ? [.sameKey] : [])
    }
}

extension Retention {
    /// The tables from which a commit deletes rows that have expired.
    package var writtenTables: [String] { expiries.flatMap { [$0.table] + $0.descendants.map(\.table) } }
}

/// What a store knows of a column by which rows expire.
package struct DateColumn: Sendable, Equatable {
    package var type: String
    /// True where dates are stored in it, as a mapping's types `date` and `datetime` store them.
    package var holdsDates: Bool
    /// True where an index finds the rows with the oldest dates.
    package var isIndexed: Bool

    package init(type: String, holdsDates: Bool, isIndexed: Bool) {
        self.type = type
        self.holdsDates = holdsDates
        self.isIndexed = isIndexed
    }

    /// Returns true where an index finds the rows of a scope with the oldest dates.
    ///
    /// - Parameters:
    ///   - index: the index's columns.
    ///   - scope: the columns whose values are given.
    package static func isServed(by index: [String], _ column: String, within scope: [String]) -> Bool {
        let scope = Set(scope.map { $0.lowercased() })
        return index.first { !scope.contains($0.lowercased()) }?.lowercased() == column.lowercased()
    }
}
