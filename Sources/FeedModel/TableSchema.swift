/// A table as a mapping declares it: what it is created from, and what an existing one is compared with.
package struct TableSchema: Sendable, Hashable {
    package struct Column: Sendable, Hashable {
        package var name: String
        /// An SQL type; nil for a column that holds the primary key of a row of another table, whose type it shares.
        package var type: String?
        package var isNotNull: Bool
        /// The table whose primary key it holds.
        package var references: String?
        /// Whether the type is declared: an existing column of another type is then a mistake.
        package var isDeclared: Bool

        package init(
            name: String, type: String?, isNotNull: Bool = false, references: String? = nil, isDeclared: Bool = true
        ) {
            self.isDeclared = isDeclared
            self.name = name
            self.type = type
            self.isNotNull = isNotNull
            self.references = references
        }
    }

    package var name: String
    package var columns: [Column]
    package var key: [String]
    /// Columns that tell the rows of this declaration from those of others; the table has them, mapped or not.
    package var scope: [String]
    /// Columns by which deletions find rows: a created table has an index of each list.
    package var indexes: [[String]]
    /// Whether rows of other tables refer to it although its key is not one column: it is created with one that SQLite
    /// generates.
    package var needsGeneratedKey: Bool
    /// What a message says declares it: `sources.toml: sources.shop.requests[0].tables[1]`.
    package var place: String

    package init(
        name: String, columns: [Column], key: [String], scope: [String] = [], indexes: [[String]] = [],
        needsGeneratedKey: Bool = false, place: String
    ) {
        self.scope = scope
        self.indexes = indexes
        self.needsGeneratedKey = needsGeneratedKey
        self.name = name
        self.columns = columns
        self.key = key
        self.place = place
    }
}
