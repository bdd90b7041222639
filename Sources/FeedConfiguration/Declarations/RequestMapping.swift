package import FeedModel
import XMLStream

/// The tables whose rows are made from the elements of one response.
public struct RequestMapping: Sendable, Hashable {
    public package(set) var tables: [TableMapping]
    /// Prefixes with their namespaces, in alphabetical order.
    package var namespaces: [Namespace]
    /// The name that the root element must have, where the request declares one.
    package var root: String?
    /// The references by which columns hold values that the request is sent for: `row:id`, `capture:token`.
    package var sentReferences: [Reference] = []
    /// True if exported records contain the rows to which they refer.
    package var expandsReferences = false

    package struct Namespace: Sendable, Hashable {
        package var prefix: String
        package var uri: String
    }

    /// Returns the mapped tables of a name, in whichever case.
    package func tables(named name: String) -> [TableMapping] {
        let name = name.lowercased()
        return tables.filter { $0.table.lowercased() == name }
    }

    /// True if any column is encrypted.
    var encrypts: Bool { tables.contains { $0.columns.contains(where: \.isEncrypted) } }

    /// Returns the schemas that the tables must have in the store.
    ///
    /// - Parameters:
    ///   - scope: the columns that the request's scope names.
    ///   - mirrors: returns true if the request mirrors a table.
    ///   - gone: returns the column that marks a table's rows as gone; nil if they are deleted.
    ///   - keepsHistory: true if each row needs a key by which it is known in the table's history.
    ///   - expiry: returns the column by which a table's rows expire; nil if they stay.
    package func definitions(
        scope: [String], mirrors: (TableMapping) -> Bool, gone: (TableMapping) -> String? = { _ in nil },
        expiry: (TableMapping) -> String? = { _ in nil }, keepsHistory: Bool = false
    ) -> [TableSchema] {
        let mirrored = Set(tables.filter(mirrors).map { $0.table.lowercased() })
        let parents = parents
        return tables.filter { !$0.matchesNames }.map { table in
            let gone = gone(table)
            var indexes: [[String]] = []
            if mirrors(table), !scope.isEmpty, gone == nil { indexes.append(scope) }
            // A table without the column has no rows that expire, unless the store's table has it.
            if let expiry = expiry(table), table.column(expiry) != nil || gone?.lowercased() == expiry.lowercased() {
                indexes.append(scope + [expiry])
            }
            // When a parent is deleted, its children are looked up.
            for column in table.storedColumns {
                guard case .parent(let parent) = column.origin,
                    mirrored.contains(parent.lowercased()) || column.name.lowercased() == table.within?.lowercased()
                else { continue }
                indexes.append([column.name])
            }
            var schema = TableSchema(
                name: table.table, columns: table.storedColumns.map { definition(of: $0) }, key: table.key,
                scope: scope,
                indexes: indexes,
                needsGeneratedKey: table.key.count != 1 && parents.contains(table.table.lowercased())
                    || keepsHistory && table.key.isEmpty,
                place: table.place)
            schema.source = table.source
            schema.keepsHistory = keepsHistory
            if let gone { schema.mark(gone, mirrorsOf: scope) }
            return schema
        }
    }

    /// The tables, in lower case, to which rows of others refer as their parents.
    private var parents: Set<String> {
        Set(
            tables.flatMap(\.columns).compactMap {
                if case .parent(let table) = $0.origin { table.lowercased() } else { nil }
            })
    }

    private func definition(of column: ColumnMapping) -> TableSchema.Column {
        if let reference = column.reference {
            return .init(name: column.name, type: nil, isNotNull: column.isRequired, references: reference.table)
        }
        if case .parent(let table) = column.origin {
            return .init(name: column.name, type: nil, isNotNull: column.isRequired, references: table)
        }
        let type: String? =
            switch column.origin {
            case .ordinal: "INTEGER"
            case _ where column.isEncrypted: "BLOB"
            case .constant(.integer), .constant(.boolean): column.type?.sqlType ?? "INTEGER"
            case .constant(.real): column.type?.sqlType ?? "REAL"
            default: column.type?.sqlType ?? enumerationType(column)
            }
        // Without a type, an existing column of the store decides.
        return .init(
            name: column.name, type: type ?? "TEXT", word: column.isEncrypted ? nil : column.type?.rawValue,
            isNotNull: column.isRequired, isDeclared: type != nil)
    }

    private func enumerationType(_ column: ColumnMapping) -> String? {
        guard !column.values.isEmpty else { return nil }
        if column.values.allSatisfy({ if case .integer = $0.value { true } else { false } }) { return "INTEGER" }
        return "TEXT"
    }
}
