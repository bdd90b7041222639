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
    /// Pairs of columns whose values are equal in a row and in the row around it: this table's column, and the outer one's.
    var join: [(column: String, outer: String)] = []
    /// True if the table's records are within one another.
    var isRecursive = false

    /// The tables whose records are within this table's records.
    var inner: [ExportTable] { nested + (isRecursive ? [self] : []) }

    /// The SQL of a row's values, followed by the values by which the rows within it are found.
    var selection: [String] {
        levels.flatMap(\.fields).map(\.sql) + inner.flatMap(\.join).map { "m.\($0.outer.sqlIdentifier)" }
    }

    /// Returns the position in a row of the first value by which rows of an inner table are found.
    func joinOffset(of table: ExportTable) -> Int {
        var offset = levels.flatMap(\.fields).count
        for other in inner {
            if other === table { break }
            offset += other.join.count
        }
        return offset
    }

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
