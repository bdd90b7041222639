/// A table as a mapping declares it. A missing table is created from it; an existing one is compared with it.
package struct TableSchema: Sendable, Hashable {
    package struct Column: Sendable, Hashable {
        package var name: String
        /// An SQL type; nil for a column that holds the primary key of a row of another table, whose type it shares.
        package var type: String?
        /// The mapping's word for the type, for stores that have types of their own for dates and booleans; nil if
        /// the mapping has none.
        package var word: String?
        package var isNotNull: Bool
        /// The table whose primary key it holds.
        package var references: String?
        /// True if the type is declared. An existing column of another type is then a mistake.
        package var isDeclared: Bool

        package init(
            name: String, type: String?, word: String? = nil, isNotNull: Bool = false, references: String? = nil,
            isDeclared: Bool = true
        ) {
            self.word = word
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
    /// Columns that distinguish this declaration's rows from those of others. The table has them even if they are not
    /// mapped.
    package var scope: [String]
    /// Lists of columns by which deletions find rows. A created table has an index on each list.
    package var indexes: [[String]]
    /// The column that marks rows as gone, which is one of the columns.
    package private(set) var gone: String?
    /// The columns of the index of a new table's unmarked rows, in which a mirror finds missing rows.
    package private(set) var presentIndex: [String] = []
    /// True if rows of other tables refer to this one although its key is not one column. The table is then created
    /// with a key that SQLite generates.
    package var needsGeneratedKey: Bool
    /// True if each row needs a key by which it is known in the table's history.
    package var keepsHistory = false
    /// The place of the declaration, for messages: `sources.toml: sources.shop.requests[1].tables[2]`.
    package var place: String
    /// The source that declares the table; nil if it is not known.
    package var source: String?

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

    /// Gives the table a column that marks rows as gone.
    ///
    /// - Parameter scope: the columns by which a mirror finds its rows.
    package mutating func mark(_ gone: String, mirrorsOf scope: [String]) {
        guard self.gone == nil else { return }
        self.gone = gone
        columns.append(Column(name: gone, type: "TEXT", word: "datetime"))
        presentIndex = scope.isEmpty ? key : scope
    }
}

extension TableSchema {
    /// The schema without the place and the source of its declaration, which do not matter to a store.
    package var undeclared: TableSchema {
        var schema = self
        (schema.place, schema.source) = ("", nil)
        return schema
    }

    /// Returns the message for a `deleted` column that does not allow NULL, the value in unmarked rows.
    package func problem(ofMark gone: String) -> String {
        "\(place): the column '\(gone)' of table '\(name)', which 'deleted' names, is NOT NULL, and rows that are not gone "
            + "have no value in it; name another column, or let it take NULL"
    }
}

extension [String] {
    /// The messages without repetitions. Of equal ones, the first stays.
    package var withoutRepetitions: [String] {
        var seen: Set<String> = []
        return filter { seen.insert($0).inserted }
    }
}

extension [TableSchema] {
    /// Returns messages about columns that cannot hold the key of a row of the table to which they refer.
    ///
    /// - Parameters:
    ///   - isMade: true where the tables are about to be made, so that those which do not exist and are not declared
    ///     are missing.
    ///   - primaryKey: returns the primary key of an existing table; nil if it does not exist.
    package func referenceProblems(
        isMade: Bool, primaryKey: (String) throws -> [String]?
    ) rethrows -> [String] {
        let declared = Set(map { $0.name.lowercased() })
        return try flatMap { definition in
            try definition.columns.compactMap { column -> String? in
                guard let name = column.references else { return nil }
                let refers =
                    "\(definition.place): the column '\(column.name)' of table '\(definition.name)' refers to table '\(name)'"
                guard let key = try primaryKey(name) else {
                    return isMade && !declared.contains(name.lowercased())
                        ? refers + ", which does not exist; map it, or create it in the schema" : nil
                }
                guard key.count != 1 else { return nil }
                let found =
                    key.isEmpty ? "which has no primary key" : "whose primary key is (\(key.joined(separator: ", ")))"
                return refers + ", \(found), and holds one value of it. "
                    + (declared.contains(name.lowercased())
                        ? TableMigration.advice(for: definition.source) : "Give '\(name)' a primary key of one column")
            }
        }
    }

    /// - Throws: ``StoreError`` naming each table with more columns than a store can write.
    package func checkWidths(most: Int) throws {
        let wide = filter { $0.columns.count > most }.map {
            "\($0.place): the mapping gives table '\($0.name)' \($0.columns.count) columns, and at most \(most) can be "
                + "written; leave some out, or split the table"
        }
        guard wide.isEmpty else { throw StoreError(.schema, wide.joined(separator: "\n")) }
    }
}

/// A mapping's reference to rows of a table, found by one of their columns.
package struct ReferenceDefinition: Sendable, Hashable {
    package var table: String
    package var column: String
    /// Columns that are set where a row is created.
    package var set: [String]
    /// True if the reference creates rows, which only a unique column distinguishes.
    package var needsUniqueColumn: Bool
    package var place: String

    package init(table: String, column: String, set: [String], needsUniqueColumn: Bool, place: String) {
        self.table = table
        self.column = column
        self.set = set
        self.needsUniqueColumn = needsUniqueColumn
        self.place = place
    }
}

/// A table that has been made for a run, or a column that has been added to one.
package struct SchemaAddition: Sendable, Hashable {
    package var table: String
    /// Nil for a whole table.
    package var column: String?

    package init(table: String, column: String? = nil) {
        self.table = table
        self.column = column
    }
}
