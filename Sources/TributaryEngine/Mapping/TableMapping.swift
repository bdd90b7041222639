import FeedModel
import FeedStore
import XMLStream

/// Which elements are rows of a table, and what their columns are.
public struct TableMapping: Sendable, Hashable {
    public internal(set) var table: String
    /// The path of the record's element: a suffix of its full path, or the full path.
    var element: XMLPath
    var writtenElement: String
    public internal(set) var key: [String]
    /// The columns that the mapping orders, in the table and in exported XML.
    var order: [String]
    /// Nil: the request's.
    var sync: SyncMode?
    /// The column of a window that moves, below whose smallest value in the feed a mirror deletes nothing. Nil: the
    /// request's.
    var window: String?
    /// The column that names the parent within which a mirror deletes.
    var within: String?
    /// In the order of the table: those that `order` names, then the others as they stand in the file.
    public internal(set) var columns: [ColumnMapping]
    /// Whether columns are whatever the table has that is named like a child element or an attribute.
    var matchesNames: Bool
    /// Where it is declared: `sources.shop.requests[0].tables[1]`.
    var place: String

    func column(_ name: String) -> ColumnMapping? { columns.first { $0.name.lowercased() == name.lowercased() } }

    /// The parent's table of a mirror within its parents.
    var parentOfMirror: String? {
        guard let within, case .parent(let table)? = column(within)?.origin else { return nil }
        return table
    }
}
