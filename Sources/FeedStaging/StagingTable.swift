package import FeedModel
import Foundation
import GRDB

/// The rows of one shape that a run has staged for one table, with their columns and the way in which they are merged.
///
/// A stack's rows for a table share a staging table as long as they have the same columns and are merged in the same
/// way. Row ids grow in the order in which later rows overrule earlier ones: by request, then by document.
package struct StagingTable: Sendable {
    /// The column that holds the row id. It has a name of its own because UPDATE … FROM does not know `rowid`.
    package static let row = "tributary_row"

    /// The column that holds the record's number, by which rows of other tables refer to it.
    package static let record = "tributary_record"

    /// The column that is 1 where the record is deleted.
    package static let deleted = "tributary_deleted"

    /// The column that holds the row id which a row had, where it is to have it again.
    package static let place = "tributary_place"

    /// The name in the database in which the rows are staged. `schema` is that database's name on the connection in
    /// use.
    package var name: String
    package var schema = "main"
    /// True if the columns that identify a row have an index from the start.
    package var isIndexed = false
    package var table: StoredTable
    /// Columns that every row supplies, in the order in which they are bound.
    package var columns: [StoredTable.Column]
    /// Columns whose value is the same for every row: those of the scope that the feed does not supply.
    package var constants: [(column: StoredTable.Column, value: String)]
    /// Columns that the merge fills by looking a row up in another table.
    package var references: [StagedReference] = []
    /// Columns that are written only where the row is new, in lower case.
    package var insertOnly: Set<String> = []
    /// The staged columns with the numbers of records around a row's, and the tables of these, where the row refers to
    /// them by their keys.
    package var enclosing: [(column: String, table: String)] = []
    package var numbersRecords = false
    /// True if rows with ``deleted`` delete the rows with their key.
    package var marksDeleted = false
    /// Which of several rows with one key counts.
    package var keeps = RowShape.Duplicates.last
    /// The position of a row's request, by the row's id.
    package static func request(of row: String) -> String { "\(row) >> \(Staging.requestBits)" }
    /// Returns the row id of the row that counts among those with one key, as a window function: of the rows of the
    /// last request, the last, or with ``RowShape/Duplicates/first`` the first.
    package func kept(_ row: String, of key: String) -> String {
        keeps == .first
            ? "first_value(\(row)) OVER (PARTITION BY \(key) ORDER BY \(Self.request(of: row)) DESC, \(row))"
            : "max(\(row)) OVER (PARTITION BY \(key))"
    }
    /// True if the rows exist only for others to refer to. Equal ones then do not count as replaced records.
    package var isLookUp = false
    /// For a mirror that deletes only among the rows of the parents that the run has sent: the column that names the
    /// parent, and the parent's table.
    package var within: RowShape.Within?
    /// The tables whose mirrors delete only among the rows of these parents. Other requests may send parents alone.
    package var mirroredWithin: Set<String> = []
    /// Columns of the key that known rows get from the staged ones, too: a key may be equal to another, and be spelt in
    /// another way.
    package var respeltColumns: [String] = []
    /// Columns that turned out to be in no record of the feed, in lower case. They are bound, but not merged.
    package var ignored: Set<String> = []
    package var sync: SyncMode
    package var scope: [String: String]
    package var window: MirrorWindow?
    /// The identity of a row.
    package var identity: Identity

    package enum Identity: Sendable, Equatable {
        /// These columns, unique under these collations.
        case key([String], collations: [String])
        /// The whole row, except for a generated primary key.
        case row
        /// Nothing: every row is a new one (``SyncMode/append``).
        case none
    }

    /// The staged columns that identify a row.
    package var identityColumns: [String] {
        switch identity {
        case .key(let columns, _): columns
        case .row: allColumns.map(\.name)
        case .none: []
        }
    }

    /// The columns of the key, where there is one.
    package var keyColumns: [String] {
        if case .key(let key, _) = identity { key } else { [] }
    }

    /// Every column that the merge writes: the supplied, the constant and the looked-up ones.
    package var allColumns: [StoredTable.Column] {
        storedColumns.filter { !ignored.contains($0.name.lowercased()) }
    }

    /// The supplied, constant and looked-up columns. A referring column may be supplied, too: missing values are then
    /// looked up.
    private var storedColumns: [StoredTable.Column] {
        let supplied = Set(columns.map(\.name))
        return columns + constants.map(\.column) + references.map(\.column).filter { !supplied.contains($0.name) }
    }

    /// The columns of the scope that the feed fills, with the values that they should have.
    package var suppliedScope: [(column: String, value: String)] {
        scope.sorted { $0.key < $1.key }.filter { entry in
            !constants.contains { $0.column.name.lowercased() == entry.key.lowercased() }
        }.map { ($0.key, $0.value) }
    }

    /// The names of a row's values in a batch: the supplied columns, the values by which others are looked up, its
    /// number.
    var boundNames: [String] {
        columns.map(\.name) + references.flatMap { $0.lookups.map(\.staged) } + enclosing.map(\.column)
            + (numbersRecords ? [Self.record] : []) + (marksDeleted ? [Self.deleted] : [])
    }

    /// Columns whose values the merge compares and updates.
    package var valueColumns: [String] {
        let identity = Set(identityColumns.map { $0.lowercased() })
        return allColumns.map(\.name).filter {
            !identity.contains($0.lowercased()) && !insertOnly.contains($0.lowercased())
        }
    }

    /// Columns in which known rows may differ from the staged ones.
    package var comparedColumns: [String] { respeltColumns + valueColumns }

    /// True if rows can be compared only once references have been resolved, inside the commit.
    package var isIdentifiedByReference: Bool {
        let identity = Set(identityColumns.map { $0.lowercased() })
        return references.contains { identity.contains($0.column.name.lowercased()) }
    }

    /// The first key column, if sorting by its value puts equal keys together: an integer, or text that compares byte by
    /// byte. Rows with one key then stay in the order in which they came.
    var sortKey: RowBatch.SortKey? {
        guard case .key(let key, let collations) = identity, collations.allSatisfy({ $0.uppercased() == "BINARY" }),
            let index = columns.firstIndex(where: { $0.name.lowercased() == key[0].lowercased() })
        else { return nil }
        let type = columns[index].type.uppercased()
        if type.contains("INT") { return RowBatch.SortKey(column: index, isInteger: true) }
        guard columns[index].isBytewise, ["CHAR", "CLOB", "TEXT"].contains(where: type.contains) else { return nil }
        return RowBatch.SortKey(column: index, isInteger: false)
    }

    /// Returns true if rows of two staging tables may have the same key. They may if both are for one table and have
    /// the same key columns, and no key column has different constants in the two.
    func mayShareKeys(with other: StagingTable) -> Bool {
        guard case .key(let key, _) = identity, case .key(let otherKey, _) = other.identity,
            table.name == other.table.name,
            key == otherKey || Set(key.map { $0.lowercased() }) == Set(otherKey.map { $0.lowercased() })
        else { return false }
        return zip(key, keyCollations).allSatisfy { name, collation in
            // Only texts that compare byte by byte are sure to be different when their bytes differ.
            guard collation.uppercased() == "BINARY",
                let own = constants.first(where: { $0.column.name.lowercased() == name.lowercased() }),
                own.column.stagedType == "TEXT" || own.column.stagedType == "BLOB",
                let others = other.constants.first(where: { $0.column.name.lowercased() == name.lowercased() })
            else { return true }
            return own.value.utf8.elementsEqual(others.value.utf8)
        }
    }

    package var qualifiedName: String { "\(schema).\(name)" }
    package var qualifiedTable: String { "main.\(table.name.sqlIdentifier)" }

    /// The table of records that were replaced by later ones, each with the row that replaced it.
    package var duplicates: String { "\(schema).\(duplicatesName)" }
    package var duplicatesName: String { name + "_same" }

    /// Columns with the same affinities as in the main store, so that values compare as they will be stored; no
    /// constraints.
    package var creationSQL: String { "CREATE TABLE \(qualifiedName) (\(definition))" }

    /// The column definitions, which are equal for tables that hold the same rows.
    package var definition: String {
        var definitions = storedColumns.map { column in
            var definition = "\(column.name.sqlIdentifier) \(column.stagedType)"
            if case .key(let key, let collations) = identity,
                let index = key.firstIndex(where: { $0.lowercased() == column.name.lowercased() })
            {
                definition += " COLLATE \(collations[index])"
            }
            return definition
        }
        for lookup in references.flatMap(\.lookups) {
            definitions.append("\(lookup.staged.sqlIdentifier) \(lookup.type)")
        }
        for around in enclosing { definitions.append("\(around.column.sqlIdentifier) INTEGER") }
        if numbersRecords { definitions.append("\(Self.record) INTEGER") }
        if marksDeleted { definitions.append("\(Self.deleted) INTEGER") }
        return "\(Self.row) INTEGER PRIMARY KEY, \(definitions.joined(separator: ", "))"
    }

    /// The number of rows that one statement inserts, few enough for SQLite's limit on parameters whatever the columns.
    var rowsPerStatement: Int { max(1, min(16, 1024 / (1 + boundNames.count + constants.count))) }

    /// Returns a statement that binds each row's number, its values, and the constants.
    func insertionSQL(rows: Int) -> String {
        let names = [Self.row] + boundNames.map(\.sqlIdentifier) + constants.map(\.column.name.sqlIdentifier)
        let row = "(" + String(repeating: "?, ", count: names.count - 1) + "?)"
        return
            "INSERT INTO \(qualifiedName) (\(names.joined(separator: ", "))) VALUES "
            + String(repeating: row + ", ", count: rows - 1) + row
    }
}

extension StagingTable {
    /// - Throws: ``StoreError`` if the table has no such column, or the key is not unique.
    package init(
        name: String, table: StoredTable, columns names: [String], references: [StagedReference] = [], rule: MergeRule
    ) throws {
        self.name = name
        self.table = table
        self.references = references
        sync = rule.sync
        scope = rule.scope
        window = rule.sync == .mirror ? rule.window : nil
        if let column = window?.column, window?.parents.isEmpty ?? false, table.column(column) == nil {
            guard rule.windowMayLack else {
                throw StoreError(
                    .schema, "table '\(table.name)' has no column '\(column)', which 'window' names")
            }
            window = nil
        }
        let lookups = references.reduce(0) { $0 + $1.lookups.count }
        if let problem = table.problem(ofWriting: names.count + lookups + rule.scope.count) {
            throw StoreError(.schema, "\(problem)")
        }
        columns = try names.map { name in
            guard let column = table.column(name), !column.isGenerated else {
                let known = table.columns.filter { !$0.isGenerated }.map(\.name).joined(separator: ", ")
                throw StoreError(.schema, "table '\(table.name)' has no column '\(name)' to write; it has \(known)")
            }
            return column
        }
        let supplied = Set((names + references.map(\.column.name)).map { $0.lowercased() })
        constants = try rule.scope.sorted { $0.key < $1.key }.compactMap { entry in
            if supplied.contains(entry.key.lowercased()) { return nil }
            guard let column = table.column(entry.key) else {
                throw StoreError(.schema, "table '\(table.name)' has no column '\(entry.key)', which 'scope' names")
            }
            return (column, entry.value)
        }
        if let window, window.parents.isEmpty, !supplied.contains(window.column.lowercased()) {
            throw StoreError(
                .schema,
                "no record for table '\(table.name)' supplies the column '\(window.column)', which 'window' names")
        }
        let available = supplied.union(constants.map { $0.column.name.lowercased() })
        identity = try Self.identity(of: table, among: available, key: rule.key(of: table.name))
        if sync == .append, rule.key(of: table.name) == nil, identity == .row { identity = .none }
    }

    /// - Parameter available: the columns that the rows have, in lower case.
    private static func identity(of table: StoredTable, among available: Set<String>, key: [String]?) throws -> Identity
    {
        if let key {
            guard let collations = table.collations(ofKey: key) else {
                throw StoreError(
                    .schema,
                    "no unique index of table '\(table.name)' covers its key (\(key.joined(separator: ", "))); create one"
                )
            }
            if let missing = key.first(where: { !available.contains($0.lowercased()) }) {
                throw StoreError(
                    .schema, "a record for table '\(table.name)' does not supply its key column '\(missing)'")
            }
            return .key(key.map { table.column($0)?.name ?? $0 }, collations: collations)
        } else if !table.primaryKey.isEmpty, table.primaryKey.allSatisfy({ available.contains($0.lowercased()) }) {
            return .key(
                table.primaryKey,
                collations: table.collations(ofKey: table.primaryKey) ?? table.primaryKey.map { _ in "BINARY" })
        } else if !table.identifiesRows {
            throw StoreError(.schema, "a record for table '\(table.name)' does not supply its whole primary key")
        } else {
            return .row
        }
    }

    /// Leaves out columns that no record of the feed had, and determines the identity of a row again.
    mutating func ignore(_ columns: Set<String>, key: [String]?) throws {
        ignored = columns
        identity = try Self.identity(of: table, among: Set(allColumns.map { $0.name.lowercased() }), key: key)
    }
}
