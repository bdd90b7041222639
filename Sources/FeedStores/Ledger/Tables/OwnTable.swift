/// The declaration of one of Tributary's own tables. The tables of both databases, the statements that read and write
/// rows, `move-store` and Documentation/Tables.md are made from it.
package struct OwnTable: Sendable {
    package let name: String
    /// The description in Documentation/Tables.md.
    let text: String
    /// The columns of the primary key; empty for a table without one. If it is one integer, the database numbers the rows.
    let key: [String]
    package let scope: TableScope
    /// True if `move-store` copies the rows one by one.
    let moves: Bool
    package let columns: [OwnColumn]
    let indexes: [OwnIndex]

    package init(
        _ name: String, _ text: String, key: [String], in scope: TableScope = .everywhere, moves: Bool = false,
        indexes: [OwnIndex] = [], @ListBuilder<OwnColumn> columns: () -> [OwnColumn]
    ) {
        self.name = name
        self.text = text
        self.key = key
        self.scope = scope
        self.moves = moves
        self.indexes = indexes
        self.columns = columns()
    }
}

/// A column of one of Tributary's own tables.
package struct OwnColumn: Sendable {
    /// A value that an INSERT need not name.
    package enum Initial: Sendable {
        /// 0, or false.
        case zero
        /// The time of the statement.
        case now
    }

    package let name: String
    package let type: ColumnType
    package let isNullable: Bool
    let initial: Initial?
    package let scope: TableScope
    /// False if `move-store` leaves the column out.
    let moves: Bool
    /// The description in Documentation/Tables.md; nil for a column that the text of the column before it describes.
    let text: String?

    init(
        _ name: String, _ type: ColumnType, _ text: String? = nil, isNullable: Bool = false, initially: Initial? = nil,
        in scope: TableScope = .everywhere, moves: Bool = true
    ) {
        self.name = name
        self.type = type
        self.text = text
        self.isNullable = isNullable
        initial = initially
        self.scope = scope
        self.moves = moves
    }

    /// The name as SQL has it.
    var sql: String { ["table", "column"].contains(name) ? "\"\(name)\"" : name }
}

/// The type of a column of Tributary's own tables.
package enum ColumnType: Sendable {
    case text
    case integer
    case real
    case boolean
    /// A point in time, to the millisecond.
    case time
    case json
    /// A list of texts.
    case texts
    /// A key of a user's table: any value, on PostgreSQL its text.
    case key
    /// The transaction that wrote the row (`xid8` of PostgreSQL).
    case transaction
}

/// The stores that have a table or a column.
package enum TableScope: Sendable {
    case everywhere
    /// Those that several daemons share.
    case shared
    /// Those in which several transactions write at once.
    case concurrent
}

package struct OwnIndex: Sendable {
    let name: String
    /// Columns that a store does not have are left out.
    let columns: [String]
    /// The column whose rows are in the index only if it has a value.
    let present: String?
    let scope: TableScope

    init(_ name: String, _ columns: [String], present: String? = nil, in scope: TableScope = .everywhere) {
        self.name = name
        self.columns = columns
        self.present = present
        self.scope = scope
    }
}

/// Lists elements, one a line.
@resultBuilder
package enum ListBuilder<Element> {
    package static func buildExpression(_ element: Element) -> [Element] { [element] }
    package static func buildArray(_ lists: [[Element]]) -> [Element] { lists.flatMap(\.self) }
    package static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap(\.self) }
}
