import FeedModel

/// Numbers of records. Those of one document have the same upper part.
package enum StagedRecords {
    /// The bits that identify the records of one document.
    package static let bits: Int64 = 40

    /// Returns the number before the first of the next document.
    static func first(after last: Int64) -> Int64 {
        let mask: Int64 = (1 << bits) - 1
        return last & mask == 0 ? last : (last | mask) + 1
    }
}

extension StagingTable {
    /// What leads from a staged row to a record around its own.
    package struct Enclosure: Sendable {
        /// The staged column with the other record's number.
        package var column: String
        package var table: String
        /// True if the column may also name a record within this one, which has a higher number.
        package var mayBeWithin = false
    }

    /// The records around a row's, to which the row refers.
    package var enclosures: [Enclosure] {
        references.filter(\.isByRecord).map { reference in
            Enclosure(
                column: reference.lookups[0].staged, table: reference.target.name,
                mayBeWithin: reference.missing == .null)
        }.filter { !$0.mayBeWithin || numbersRecords } + enclosing.map { Enclosure(column: $0.column, table: $0.table) }
    }

    /// The staged columns that identify rows before their references are resolved: values that find one row are
    /// equal.
    package var unresolvedIdentity: [String] {
        identityColumns.flatMap { name in
            let references = references.filter { $0.column.name.lowercased() == name.lowercased() }
            let isSupplied = columns.contains { $0.name.lowercased() == name.lowercased() }
            return (references.isEmpty || isSupplied ? [name] : []) + references.flatMap { $0.lookups.map(\.staged) }
        }
    }
}

/// A database in which staged rows wait to be merged, and which can remove some of them.
///
/// Of records of one document that have one key, the last counts, with the records within it. Where the first counts,
/// it is the first of the request's documents. Records within the others, and within deleted ones, are removed before rows
/// are compared with each other: they replace nothing.
package protocol StagedRecordStore {
    /// The staged rows of a table, as SQL names them.
    func rows(of table: StagingTable) -> String

    /// Returns an empty table, as SQL names it, whose columns are whole numbers that form its primary key.
    func makeTable(_ name: String, columns: [String]) throws -> String

    /// - Returns: the number of rows that were changed.
    @discardableResult
    func run(_ sql: String) throws -> Int

    /// Returns true for a query of one row and one column that is true.
    func isTrue(_ sql: String) throws -> Bool

    /// Removes the staged rows of a table for which a condition holds.
    ///
    /// - Returns: their number.
    func remove(from table: StagingTable, where condition: String) throws -> Int

    /// Keeps the last of several rows with one key, if the key is known before the merge.
    ///
    /// - Parameter onReplaced: called before the first such row is removed.
    func keepLast(of table: StagingTable, _ counts: StagedCounts, onReplaced: () throws -> Void) throws
}
