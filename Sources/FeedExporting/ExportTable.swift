package import FeedDeclarations

/// How the rows of one mapped table become elements: the elements around a record, the record's own, and the tables of
/// records within it.
final class ExportTable {
    let mapping: TableMapping
    /// From the outermost element that belongs to the table to the record's own, which is the last.
    var levels: [ExportElement] = []
    var nested: [ExportTable] = []
    /// Columns that are equal in a row and in the row around it: this table's, and the SQL of the other's value.
    var join: [(column: String, outer: String)] = []
    /// Whether its records are within one another.
    var isRecursive = false

    /// The tables whose records are within its own.
    var inner: [ExportTable] { nested + (isRecursive ? [self] : []) }

    /// The values of a row, and behind them those by which the rows within it are found.
    var selection: [String] { levels.flatMap(\.fields).map(\.sql) + inner.flatMap { $0.join.map(\.outer) } }

    /// Where in a row the values begin by which rows of an inner table are found.
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

    init(_ mapping: TableMapping) { self.mapping = mapping }
}

/// GRDB has a type of the same name.
package typealias ColumnMapping = FeedDeclarations.ColumnMapping
