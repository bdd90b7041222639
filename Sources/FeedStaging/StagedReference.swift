package import FeedModel

/// A column of staged rows that the merge fills with the primary key of a row of another table.
package struct StagedReference: Sendable {
    package struct Lookup: Sendable {
        /// The staged column that holds the value.
        package var staged: String
        /// The other table's column with which it is compared; nil for the number of a staged record.
        package var column: String?
        /// The type with which it is staged.
        package var type: String
    }

    /// True if the column refers to a record of the same run by its number.
    package var isByRecord: Bool { lookups.contains { $0.column == nil } }

    /// True if the other table is copied for the look-ups, because without an index each would read the whole table.
    package var copiesTarget: Bool {
        !isByRecord
            && !uniqueKeys.contains { index in
                index.first.map { first in lookups.contains { $0.column == first } } ?? false
            }
    }

    /// What finds rows of the other table. SQLite's catalog has no index for an `INTEGER PRIMARY KEY`, which is the row id.
    private var uniqueKeys: [[String]] { (target.generatedKey.map { [[$0]] } ?? []) + target.uniqueIndexes }

    /// True if a unique index of the other table lets the values that are looked up find one row at most.
    package var findsOneRow: Bool {
        let columns = Set(lookups.compactMap { $0.column?.lowercased() })
        return uniqueKeys.contains { $0.allSatisfy { columns.contains($0.lowercased()) } }
    }

    package var column: StoredTable.Column
    package var target: StoredTable
    package var targetKey: String
    package var lookups: [Lookup]
    package var missing: RowShape.Missing

    /// - Throws: ``StoreError`` if a column does not exist, or the other table's primary key is not one column.
    init(_ reference: RowShape.Reference, of table: StoredTable, to target: StoredTable) throws {
        guard let column = table.column(reference.column) else {
            throw StoreError(.schema, "table '\(table.name)' has no column '\(reference.column)' to write")
        }
        guard target.primaryKey.count == 1 else {
            throw StoreError(
                .schema,
                "the column '\(reference.column)' of table '\(table.name)' cannot refer to table '\(target.name)', whose "
                    + "primary key is not one column")
        }
        self.column = column
        self.target = target
        targetKey = target.primaryKey[0]
        lookups = try reference.lookups.map { name in
            guard let column = target.column(name) else {
                throw StoreError(
                    .schema, "table '\(target.name)' has no column '\(name)' to look '\(reference.column)' up by")
            }
            return Lookup(
                staged: "tributary_\(reference.column)_\(name)", column: column.name,
                type: column.stagedType)
        }
        if lookups.isEmpty {
            lookups = [
                Lookup(staged: "tributary_\(reference.column)_record", column: nil, type: "INTEGER")
            ]
        }
        missing = reference.missing
    }
}
