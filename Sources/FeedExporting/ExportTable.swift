package import FeedConfiguration
import XMLStream
import FeedStaging

/// The layout of one mapped table's rows as elements: those around a record, the record's own, and the tables of
/// records within it.
final class ExportTable {
    let mapping: TableMapping
    /// The elements from the outermost one of the table to the record's own, which is the last.
    var levels: [ExportElement] = []
    var nested: [ExportTable] = []
    typealias Join = [(column: String, outer: String)]
    /// Pairs of columns whose values are equal in a row and in the row of another table around it: this table's column, and
    /// the outer one's.
    var join: Join = []
    /// Pairs of columns that join a row to the row of the same table around it; empty if the table's records are not nested
    /// in one another.
    var selfJoin: Join = []
    var isRecursive: Bool { !selfJoin.isEmpty }

    /// Rows within a row of another table, or of their own.
    struct Inner: Hashable {
        let table: ExportTable
        let isSelfJoin: Bool
        var join: Join { isSelfJoin ? table.selfJoin : table.join }

        static func == (a: Inner, b: Inner) -> Bool { a.table === b.table && a.isSelfJoin == b.isSelfJoin }

        func hash(into hasher: inout Hasher) {
            hasher.combine(ObjectIdentifier(table))
            hasher.combine(isSelfJoin)
        }
    }

    /// The rows within this table's rows.
    var inner: [Inner] {
        nested.map { Inner(table: $0, isSelfJoin: false) } + (isRecursive ? [Inner(table: self, isSelfJoin: true)] : [])
    }

    /// The SQL of a row's values, followed by the values by which the rows within it are found.
    var selection: [String] {
        levels.flatMap(\.fields).map(\.sql) + inner.flatMap(\.join).map { "m.\($0.outer.sqlIdentifier)" }
    }

    /// The position in a row of the first value by which rows within it are found.
    var joinOffset: Int { levels.flatMap(\.fields).count }

    var record: ExportElement { levels[levels.count - 1] }
    var wrappers: ArraySlice<ExportElement> { levels.dropLast() }
    /// The height of a record without those within it. Read it only when the layout is complete.
    lazy var height = record.height

    init(_ mapping: TableMapping) { self.mapping = mapping }
}

/// Needed because GRDB has a type of the same name.
package typealias ColumnMapping = FeedConfiguration.ColumnMapping

extension ColumnMapping {
    /// The path at which its value is written; nil for a value from elsewhere.
    var path: XMLPath? { if case .path(let path, _) = origin { path } else { nil } }

    /// The table whose key it holds, that of the records around its own.
    var parent: String? { if case .parent(let table) = origin { table } else { nil } }
}
