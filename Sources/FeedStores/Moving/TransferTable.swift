/// A table whose rows move from one store to another, as one of them knows it.
package struct TransferTable: Sendable {
    package struct Column: Sendable, Equatable {
        package var name: String
        package var kind: TransferKind

        package init(name: String, kind: TransferKind) {
            self.name = name
            self.kind = kind
        }
    }

    package var name: String
    /// The columns that can be written.
    package var columns: [Column]
    package var primaryKey: [String]
    /// The tables, in lower case, whose rows must be there before this table's: foreign keys that cannot be deferred lead
    /// to them.
    package var parents: Set<String>

    package init(name: String, columns: [Column], primaryKey: [String], parents: Set<String> = []) {
        self.name = name
        self.columns = columns
        self.primaryKey = primaryKey
        self.parents = parents
    }

    /// Returns the column with exactly this name, or else one whose name differs from it by case.
    package func column(_ name: String) -> Column? {
        columns.first { $0.name == name } ?? columns.first { $0.name.lowercased() == name.lowercased() }
    }
}

/// The names of Tributary's own tables whose rows a move counts or treats otherwise.
extension TransferTable {
    package static let sources = "tributary_source"
    package static let runs = "tributary_run"
    package static let changes = "tributary_change"
    package static let requests = "tributary_request"
}

/// The kind of a column's values, as far as the other store must know it.
package enum TransferKind: Sendable, Equatable {
    /// Values of any type, as SQLite keeps them.
    case dynamic
    /// A decimal number of any length.
    case numeric
    /// Any other type of a server's.
    case typed
}
