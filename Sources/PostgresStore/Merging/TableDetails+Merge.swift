import FeedModel
import FeedStaging
import FeedStores

/// A table for the merge's statements.
extension TableDetails: StoredTable {
    var id: TableID { String(oid) }
    var storedColumns: [any StoredColumn] { columns }
    func storedColumn(_ name: String) -> (any StoredColumn)? { column(name) }

    /// The columns that identify a row of the table: those of a unique index, or else its `ctid`, which is valid
    /// until the row changes.
    var locator: [RowLocator] {
        for key in (uniquenesses.filter(\.isPrimary) + uniquenesses).filter(\.isPlain).map(\.columns) {
            let columns = key.compactMap { column($0) }
            guard columns.count == key.count, columns.allSatisfy(\.isNotNull) else { continue }
            return columns.map { RowLocator(sql: $0.sql, definition: $0.definition, column: $0.name) }
        }
        return [RowLocator(sql: "tableoid", definition: "oid"), RowLocator(sql: "ctid", definition: "tid")]
    }

    /// True if rows are located by their place, which changes with each update.
    var isLocatedByPlace: Bool { locator.last?.sql == "ctid" }

    var rowID: String? { nil }

    var lastingKey: [String] {
        let key = Set(locator.compactMap(\.column))
        return columns.map(\.name).filter(key.contains)
    }

    var mergeKey: [String]? { isLocatedByPlace ? nil : lastingKey }

    func isThere(_ alias: String) -> String { "\(alias).tableoid IS NOT NULL" }

    /// Returns a column that the merge needs.
    func needed(_ name: String) throws -> ColumnDetails {
        guard let column = column(name) else {
            throw StoreError(.schema, "table '\(self.name)' no longer has the column '\(name)'")
        }
        return column
    }

    /// The other tables to which the table's foreign keys refer.
    var parents: Set<TableID> { Set(foreignKeys.map { String($0.parent) }).subtracting([id]) }

    var children: [ReferringKey] {
        referringKeys.map {
            ReferringKey(
                child: String($0.child), columns: $0.columns, targets: $0.targets, onDelete: $0.onDelete.action,
                onUpdate: $0.onUpdate.action, holdsParents: $0.holdsParents)
        }
    }

    /// True if rows refer to others of the table, by a key that is checked with each statement.
    var checksOwnRows: Bool { foreignKeys.contains { $0.parent == oid && !$0.isDeferrable } }

    /// The columns of unique constraints, in lower case.
    var uniqueColumns: Set<String> {
        var names = Set(uniquenesses.flatMap { $0.columns + $0.mentioned }.map { $0.lowercased() })
        if columns.contains(where: { $0.isComputed && names.contains($0.name.lowercased()) }) {
            // Its value comes from other columns, perhaps any of them.
            names.formUnion(columns.map { $0.name.lowercased() })
        }
        return names
    }

    /// Returns the key of a row in the form of the changelog: the value of the only column, or a JSON array of
    /// several; without a key, the row's place.
    func changelogKey(_ key: [String], _ alias: String) -> String {
        let columns = key.compactMap { column($0) }
        switch columns.count {
        case 0: return "\(alias).ctid::text"
        case 1: return columns[0].changelogText(alias)
        default:
            let values = columns.map { $0.changelogJSON(alias) }
            return "'[' || concat_ws(',', \(values.joined(separator: ", "))) || ']'"
        }
    }
}

extension ForeignKey.Action {
    fileprivate var action: ReferringKey.Action {
        switch self {
        case .noAction: .none
        case .restrict: .restrict
        case .cascade: .cascade
        case .setNull: .setNull
        case .setDefault: .setDefault
        }
    }
}
