package import FeedModel
package import XMLStream

/// The elements that become rows of a table, and the columns of these rows.
public struct TableMapping: Sendable, Hashable {
    public package(set) var table: String
    /// The path of the record's element: a suffix of its full path, or the full path.
    package var element: XMLPath
    package var writtenElement: String
    public package(set) var key: [String] = []
    /// The columns whose order the mapping declares, in the table and in exported XML.
    package var order: [String] = []
    /// The mode of this table; nil for that of the request.
    package var sync: SyncMode?
    /// The column of a moving window. A mirror deletes nothing below its smallest value in the feed. Nil for the
    /// request's.
    package var window: String?
    /// The column of the parent to whose rows a mirror's deletions are limited.
    package var within: String?
    /// An SQL expression over the record's columns. A record for which it is not true is skipped.
    package var filter: String?
    /// An SQL expression over the record's columns. A record for which it is true deletes the row that has its key.
    package var deletedWhen: String?
    /// The name of the column, which is not stored, with the value of ``deletedWhen``.
    package static let deletionColumn = "deleted_when"
    /// Which of several records with one key counts.
    package var duplicates = RowShape.Duplicates.last
    /// The least rows that the request stages for the table.
    package var minRows = 0
    /// The limits on the changes of one commit to the table's scope; nil for the request's.
    package var maxDeleted: ChangeLimit?
    package var maxChanged: ChangeLimit?
    /// The column that marks rows as gone, where a mirror does not delete them. Nil for the request's.
    package var deleted: String?
    /// How old rows may become. Nil for the request's.
    package var expiry: RowExpiry?
    /// The columns in the table's order: those in `order`, then the others in the order of the file.
    public package(set) var columns: [ColumnMapping]
    /// True if the columns are those of the table that have the name of a child element or an attribute.
    package var matchesNames: Bool
    /// The place of the declaration.
    @Uncompared package var place = KeyPlace()
    /// The source of the declaration; nil outside a source.
    package var source: String?

    package init(
        table: String, element: XMLPath, writtenElement: String, columns: [ColumnMapping], matchesNames: Bool = false
    ) {
        self.table = table
        self.element = element
        self.writtenElement = writtenElement
        self.columns = columns
        self.matchesNames = matchesNames
    }

    /// The columns that the store's table has.
    package var storedColumns: [ColumnMapping] { columns.filter(\.isStored) }

    /// True if a record's values or its fate are computed from its columns.
    package var hasExpressions: Bool { filter != nil || columns.contains(where: \.isDerived) }

    package func column(_ name: String) -> ColumnMapping? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    /// The parent's table, where a mirror deletes only within its parents.
    package var parentOfMirror: String? {
        guard let within, case .parent(let table)? = column(within)?.origin else { return nil }
        return table
    }
}
