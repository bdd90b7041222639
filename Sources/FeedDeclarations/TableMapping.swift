package import FeedModel
package import XMLStream

/// Which elements are rows of a table, and what their columns are.
public struct TableMapping: Sendable, Hashable {
    public package(set) var table: String
    /// The path of the record's element: a suffix of its full path, or the full path.
    package var element: XMLPath
    package var writtenElement: String
    public package(set) var key: [String]
    /// The columns that the mapping orders, in the table and in exported XML.
    package var order: [String]
    /// Nil: the request's.
    package var sync: SyncMode?
    /// The column of a window that moves, below whose smallest value in the feed a mirror deletes nothing. Nil: the
    /// request's.
    package var window: String?
    /// The column that names the parent within which a mirror deletes.
    package var within: String?
    /// In the order of the table: those that `order` names, then the others as they stand in the file.
    public package(set) var columns: [ColumnMapping]
    /// Whether columns are whatever the table has that is named like a child element or an attribute.
    package var matchesNames: Bool
    /// Where it is declared: `sources.shop.requests[0].tables[1]`.
    package var place: String

    package init(
        table: String, element: XMLPath, writtenElement: String, key: [String], order: [String], sync: SyncMode? = nil,
        window: String? = nil, within: String? = nil, columns: [ColumnMapping], matchesNames: Bool, place: String
    ) {
        self.table = table
        self.element = element
        self.writtenElement = writtenElement
        self.key = key
        self.order = order
        self.sync = sync
        self.window = window
        self.within = within
        self.columns = columns
        self.matchesNames = matchesNames
        self.place = place
    }

    package func column(_ name: String) -> ColumnMapping? {
        columns.first { $0.name.lowercased() == name.lowercased() }
    }

    /// The parent's table of a mirror within its parents.
    package var parentOfMirror: String? {
        guard let within, case .parent(let table)? = column(within)?.origin else { return nil }
        return table
    }
}
