package import FeedModel
package import FeedStores
package import Foundation

/// The changes that a commit would make, for a user's decision: the totals, and a bounded number of rows with the
/// largest differences.
package struct ChangeReview: Codable, Sendable {
    package struct Table: Codable, Sendable {
        package var table: String
        package var inserted = 0
        package var updated = 0
        package var deleted = 0
    }

    package struct Cell: Codable, Sendable {
        package var column: String
        package var value: StoredValue
    }

    /// A changed row.
    package struct Row: Codable, Sendable {
        package enum Operation: String, Codable, CaseIterable, Sendable { case insert, update, delete }

        package var table: String
        package var operation: Operation
        package var key: [Cell]
        /// The row before: the columns that differ, of an updated row; empty for a new row.
        package var old: [Cell]
        /// The row after; empty for a deleted row.
        package var new: [Cell]
    }

    /// The start of the run that would make the changes.
    package var startedAt: Date
    package var tables: [Table]
    /// The number of rows that the documents have as the store has them; nil in a file of an earlier release.
    package var unchanged: Int?
    /// The rows, the largest differences first.
    package var rows: [Row]
    package var digest: ChangeDigest

    package var total: MergeCounts {
        tables.reduce(into: MergeCounts(unchanged: unchanged ?? 0)) { total, table in
            total += MergeCounts(inserted: table.inserted, updated: table.updated, deleted: table.deleted)
        }
    }

    /// The review without its rows.
    package var totals: ChangeReview {
        var review = self
        review.rows = []
        return review
    }

    /// The number of changed rows that are only in the totals.
    package var omitted: Int { total.changed - rows.count }
}

/// Collects the changes of a commit one by one, and keeps the largest of each table.
package struct ChangeReviewer: Sendable {
    /// The most kept rows, and the most bytes of their values.
    package static let most = (rows: 5_000, bytes: 4 << 20)
    /// The most characters of a value.
    private static let longest = 500

    private struct Found: Sendable {
        var row: ChangeReview.Row
        var size: Int
        var difference: Double
    }

    private var tables: [String: ChangeReview.Table] = [:]
    private var digest = ChangeDigest()
    private var found: [Found] = []
    private var bytes = 0

    package init() {}

    package mutating func add(_ change: PlannedChange) {
        digest.add(change)
        let key = Set(change.key.map { $0.lowercased() })
        var row = ChangeReview.Row(
            table: change.table, operation: .insert,
            key: Self.cells(change.row.filter { key.contains($0.column.lowercased()) }), old: [], new: [])
        var difference = 0.0
        switch change.operation {
        case .insert:
            tables[change.table, default: .init(table: change.table)].inserted += 1
            row.new = Self.cells(change.row)
        case .update(let old):
            tables[change.table, default: .init(table: change.table)].updated += 1
            row.operation = .update
            let changed = zip(old, change.row).filter { $0.value != $1.value }
            row.old = Self.cells(changed.map(\.0))
            row.new = Self.cells(changed.map(\.1))
            difference = changed.map { Self.difference($0.value, $1.value) }.max() ?? 0
        case .delete:
            tables[change.table, default: .init(table: change.table)].deleted += 1
            row.operation = .delete
            row.old = Self.cells(change.row)
            difference = 1
        }
        let size = (row.key + row.old + row.new).reduce(0) { $0 + $1.size }
        found.append(Found(row: row, size: size, difference: difference))
        bytes += size
        // Twice the limit, so that each row is sorted only a few times.
        if found.count > 2 * Self.most.rows || bytes > 2 * Self.most.bytes { keepLargest() }
    }

    /// - Parameters:
    ///   - startedAt: the start of the run that would make the changes.
    ///   - unchanged: the number of rows that the run would leave as they are.
    package mutating func review(of startedAt: Date, unchanged: Int) -> ChangeReview {
        keepLargest()
        return ChangeReview(
            startedAt: startedAt, tables: tables.values.sorted { $0.table < $1.table }, unchanged: unchanged,
            rows: found.map(\.row), digest: digest)
    }

    /// Keeps the largest differences of each table. The tables have equal shares, as far as they have rows.
    private mutating func keepLargest() {
        found.sort { $0.difference > $1.difference }
        var ranks: [String: Int] = [:]
        let ranked = found.indices.map { index in
            ranks[found[index].row.table, default: 0] += 1
            return (rank: ranks[found[index].row.table, default: 0], index: index)
        }
        bytes = 0
        var kept: [Int] = []
        for entry in ranked.sorted(by: { ($0.rank, $0.index) < ($1.rank, $1.index) }).prefix(Self.most.rows) {
            guard bytes + found[entry.index].size <= Self.most.bytes else { break }
            bytes += found[entry.index].size
            kept.append(entry.index)
        }
        found = kept.sorted().map { found[$0] }
    }

    /// Returns the relative change of a number; almost 0 for texts.
    private static func difference(_ old: StoredValue, _ new: StoredValue) -> Double {
        guard let before = number(old), let after = number(new), before.isFinite, after.isFinite else { return 0.01 }
        return before == 0 ? 1_000_000 : min(1_000_000, abs((after - before) / before))
    }

    private static func number(_ value: StoredValue) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .real(let number): number
        case .text(let text): Double(text)
        case .null, .blob: nil
        }
    }

    private static func cells(_ values: PlannedChange.Values) -> [ChangeReview.Cell] {
        values.map { column, value in
            switch value {
            case .text(let text) where text.utf8.count > longest:
                ChangeReview.Cell(column: column, value: .text(text.prefix(longest) + " …"))
            case .blob: ChangeReview.Cell(column: column, value: .text(value.description))
            default: ChangeReview.Cell(column: column, value: value)
            }
        }
    }
}

extension ChangeReview.Cell {
    /// The approximate number of bytes in a file.
    fileprivate var size: Int {
        guard case .text(let text) = value else { return column.utf8.count + 40 }
        return column.utf8.count + text.utf8.count + 30
    }
}
