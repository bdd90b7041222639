package import FeedModel
import XMLStream

/// The tables that one response's elements become rows of.
public struct RequestMapping: Sendable, Hashable {
    public package(set) var tables: [TableMapping]
    /// Prefixes and what they stand for, in alphabetical order.
    package var namespaces: [Namespace]
    /// The name that the root element must have, where the request says so.
    package var root: String?
    /// What columns hold of what the request is sent for: `row:id`, `capture:token`.
    package var sentReferences: [String] = []
    /// Whether exported records hold the rows that they refer to.
    package var expandsReferences = false

    package init(
        tables: [TableMapping], namespaces: [Namespace], root: String? = nil, sentReferences: [String] = [],
        expandsReferences: Bool = false
    ) {
        self.tables = tables
        self.namespaces = namespaces
        self.root = root
        self.sentReferences = sentReferences
        self.expandsReferences = expandsReferences
    }

    package struct Namespace: Sendable, Hashable {
        package var prefix: String
        package var uri: String

        package init(prefix: String, uri: String) {
            self.prefix = prefix
            self.uri = uri
        }
    }

    /// Whether any column is encrypted.
    var encrypts: Bool { tables.contains { $0.columns.contains(where: \.isEncrypted) } }

    /// What the tables must be like in the store.
    ///
    /// - Parameters:
    ///   - scope: the columns that the request's scope names.
    ///   - mirrors: whether the request mirrors a table.
    package func definitions(file: String, scope: [String], mirrors: (TableMapping) -> Bool) -> [TableSchema] {
        let mirrored = Set(tables.filter(mirrors).map { $0.table.lowercased() })
        return tables.filter { !$0.matchesNames }.map { table in
            var indexes: [[String]] = []
            if mirrors(table), !scope.isEmpty { indexes.append(scope) }
            // Where a parent goes, its children are looked for.
            for column in table.columns {
                guard case .parent(let parent) = column.origin,
                    mirrored.contains(parent.lowercased()) || column.name.lowercased() == table.within?.lowercased()
                else { continue }
                indexes.append([column.name])
            }
            return TableSchema(
                name: table.table, columns: table.columns.map { definition(of: $0) }, key: table.key, scope: scope,
                indexes: indexes,
                needsGeneratedKey: table.key.count != 1 && parents.contains(table.table.lowercased()),
                place: "\(file): \(table.place)")
        }
    }

    /// Tables to whose rows others refer as their parents, in lower case.
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
        // Without a type the store's column decides, where there is one.
        return .init(
            name: column.name, type: type ?? "TEXT", isNotNull: column.isRequired, isDeclared: type != nil)
    }

    private func enumerationType(_ column: ColumnMapping) -> String? {
        guard !column.values.isEmpty else { return nil }
        if column.values.allSatisfy({ if case .integer = $0.value { true } else { false } }) { return "INTEGER" }
        return "TEXT"
    }
}
