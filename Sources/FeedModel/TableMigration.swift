/// The changes that make an existing table match its declaration and keep its rows.
package struct TableMigration: Sendable, Equatable {
    package struct Column: Sendable, Hashable {
        /// As the table has it.
        package var name: String
        package var from: String
        package var to: String

        package init(name: String, from: String, to: String) {
            self.name = name
            self.from = from
            self.to = to
        }
    }

    /// As the store has it.
    package var table: String
    /// The columns whose types change.
    package var columns: [Column]
    /// The columns of the new key; empty if it stays.
    package var key: [String]
    /// The new key's columns that the table lacks. Existing rows have no value in them.
    package var added: [String]
    /// Those of them that are columns of a scope.
    package var scope: [String]
    /// The column that numbers the rows, by which those of other tables refer to them, or the table's history knows them;
    /// nil if there is none to add.
    package var number: String?
    /// True if the table has a history, which ends with the next commit because its values do not fit the new types.
    package var endsHistory: Bool
    /// The SQL, in its order.
    package var statements: [String]

    package init(
        table: String, columns: [Column], key: [String], added: [String] = [], scope: [String] = [],
        number: String? = nil,
        endsHistory: Bool = false, statements: [String] = []
    ) {
        self.table = table
        self.columns = columns
        self.key = key
        self.added = added
        self.scope = scope
        self.number = number
        self.endsHistory = endsHistory
        self.statements = statements
    }

    /// What changes, for users: `price: TEXT becomes REAL`, `key: (id, shop)`.
    package var changes: [String] {
        columns.map {
            "\($0.name): \($0.from.isEmpty ? "no type" : $0.from) becomes \($0.to.isEmpty ? "no type" : $0.to)"
        }
            + (number.map { ["\($0): a new number for each row, as the primary key"] } ?? [])
            + added.map { name in
                "\(name): a new column, NULL in the existing rows"
                    + (scope.contains(name)
                        ? ", so that no mirror of a scope deletes them: set it in these rows, or delete them" : "")
            }
            + (key.isEmpty ? [] : ["key: (\(key.joined(separator: ", ")))"])
            + (endsHistory
                ? [
                    "the next commit of its rows ends its history: earlier runs cannot be undone, and `changes` does not "
                        + "show them"
                ]
                : [])
    }

    /// Returns the advice in messages about tables that differ from their declaration.
    ///
    /// - Parameter source: the source that declares the table; nil if it is not known.
    package static func advice(for source: String?) -> String {
        "`tributary migrate \(source ?? "SOURCE")` shows the SQL that changes the table and keeps its rows, and does it with "
            + "--yes"
    }

    /// Creates the error for a value that the new type does not take.
    ///
    /// - Parameters:
    ///   - row: the row for users.
    ///   - value: the value as SQL writes it.
    package func refusal(of value: String, in column: Column, _ row: String) -> StoreError {
        StoreError(
            .constraint,
            "table '\(table)': \(value) in column '\(column.name)' is no \(column.to.isEmpty ? "number" : column.to), in the "
                + "row \(row); nothing was changed: fix the value first, or declare another type")
    }

    /// Creates the error for a table whose primary key cannot change, because rows of another table hold it.
    ///
    /// - Parameter columns: the other table's columns that refer to it.
    package static func refusal(
        of table: String, key: [String], heldBy child: String, _ columns: [String]
    ) -> StoreError {
        StoreError(
            .schema,
            "table '\(table)' cannot get another primary key than (\(key.joined(separator: ", "))): table '\(child)' refers to "
                + "it by (\(columns.joined(separator: ", "))), and its rows hold the former keys; nothing was changed: drop table "
                + "'\(child)' first, which the next run makes and fills again, or keep the key")
    }

    /// Creates the error for rows that have one key.
    package func collision(_ count: Int, _ row: String) -> StoreError {
        StoreError(
            .constraint,
            "table '\(table)': \(count) rows have the same key \(row); nothing was changed: "
                + "delete all but one, or declare another key")
    }
}

extension [TableSchema] {
    /// The definitions with one for each table: with the columns of all, and the first one's key.
    package var mergedByTable: [TableSchema] {
        reduce(into: []) { merged, definition in
            guard let index = merged.firstIndex(where: { $0.name.lowercased() == definition.name.lowercased() }) else {
                merged.append(definition)
                return
            }
            let known = Set(merged[index].columns.map { $0.name.lowercased() })
            merged[index].columns += definition.columns.filter { !known.contains($0.name.lowercased()) }
            if merged[index].key.isEmpty { merged[index].key = definition.key }
            merged[index].needsGeneratedKey = merged[index].needsGeneratedKey || definition.needsGeneratedKey
            merged[index].keepsHistory = merged[index].keepsHistory || definition.keepsHistory
        }
    }

    /// The tables, in lower case, to whose rows columns refer.
    package var referred: Set<String> { Set(flatMap(\.columns).compactMap { $0.references?.lowercased() }) }
}

extension TableSchema {
    /// Returns a name for the key column that the store generates: one that no other column has.
    ///
    /// - Parameter columns: the names of columns that an existing table has.
    package func generatedKeyName(existingColumns columns: [String] = []) -> String {
        let taken = Set((self.columns.map(\.name) + scope + columns).map { $0.lowercased() })
        var name = taken.contains("id") ? self.name + "_id" : "id"
        var number = 2
        while taken.contains(name.lowercased()) {
            name = "id_\(number)"
            number += 1
        }
        return name
    }

    /// Returns true if a column distinguishes the declaration's rows from those of others.
    package func isScope(_ column: String) -> Bool { scope.contains { $0.lowercased() == column.lowercased() } }

    /// Returns true if the table is to have a column: one that is mapped, or one of the scope.
    package func has(_ column: String) -> Bool {
        (columns.map(\.name) + scope).contains { $0.lowercased() == column.lowercased() }
    }
}
