import FeedModel
import FeedStaging
import FeedStores

/// The staged rows of one table, as parameters of a statement.
struct SmallPart {
    let part: StagedStack.Part
    let details: StoredTable
    /// The columns that the rows supply.
    let columns: [ParameterColumn]
    let constants: [(column: ParameterColumn, value: String)]
    let rows: StagedArrays
    var table: StagingTable { part.table }

    /// - Parameter details: the table as it was when it was last looked at.
    /// - Throws: ``Unsuitable``
    init(_ part: StagedStack.Part, _ details: StoredTable) throws {
        let table = part.table
        try Self.check(table)
        try details.check(for: table)
        func parameter(_ column: StoredTable.Column) throws -> ParameterColumn {
            guard let known = details.column(column.name), let parameter = ParameterColumn(known) else {
                throw Unsuitable("the type of column '\(column.name)'")
            }
            return parameter
        }
        self.part = part
        self.details = details
        columns = try table.columns.map(parameter)
        constants = try table.constants.map { (try parameter($0.column), $0.value) }
        for (column, value) in constants {
            try Unsuitable.unless(
                value.unicodeScalars.count <= column.mostCharacters ?? .max, "a long value in the scope")
        }
        do { rows = try StagedArrays(part, columns) } catch is CopiedColumn.ValueProblem {
            throw Unsuitable("a value that cannot be stored")
        }
        try Unsuitable.unless(!rows.isTooLong, "a text that is too long")
        for (column, nulls) in zip(table.columns, rows.nulls) where nulls > 0 && table.mustHave(column) {
            let isRefused = column.isNotNull && column.name != table.table.generatedKey
            try Unsuitable.unless(!table.isKey(column.name) && !isRefused, "a missing value")
        }
    }

    /// The columns, in lower case, that an update writes.
    var writtenColumns: Set<String> { Set(table.valueColumns.map { $0.lowercased() }) }

    /// The columns of the scope, in lower case. A row whose value there changes leaves the scope.
    var scopeColumns: Set<String> { Set(table.scope.keys.map { $0.lowercased() }) }

    /// The columns that known rows get from the staged ones.
    var updatedColumns: [String] { table.sync == .upsert || table.sync == .mirror ? table.valueColumns : [] }

    private static func check(_ table: StagingTable) throws {
        guard case .key = table.identity else { throw Unsuitable("rows without a key") }
        try Unsuitable.unless(
            table.references.isEmpty && table.enclosing.isEmpty && !table.numbersRecords && !table.marksDeleted
                && table.keeps == .last
                && !table.isLookUp
                && table.within == nil, "rows that refer to others")
        try Unsuitable.unless(table.window == nil, "a window")
        try Unsuitable.unless(table.respeltColumns.isEmpty, "rows that are restored")
        // A row that is kept as it is may be in another scope.
        let scope = table.scope.keys.map { $0.lowercased() }
        let isKept = table.sync == .insert || table.sync == .append
        try Unsuitable.unless(
            scope.allSatisfy { column in table.isKey(column) || !isKept && !table.insertOnly.contains(column) },
            "a scope that rows may be kept outside of")
    }
}

extension StoredTable {
    /// - Throws: ``Unsuitable`` if more than the rows themselves decides what becomes of the table.
    fileprivate func check(for table: StagingTable) throws {
        try Unsuitable.unless(kind == .table && !isPartition, "a partitioned table")
        try Unsuitable.unless(isSame(as: table.table), "a table that has changed")
        let written = table.allColumns.compactMap { column($0.name) }
        try Unsuitable.unless(
            written.count == table.allColumns.count && !written.contains(where: \.isGenerated), "a generated column")
        let names = Set(written.map { $0.name.lowercased() })
        let key = Set(table.keyColumns.map { $0.lowercased() })
        for unique in uniquenesses {
            let columns = Set(unique.columns.map { $0.lowercased() })
            if unique.isPlain, columns == key { continue }
            let mentioned = columns.union(unique.mentioned.map { $0.lowercased() })
            let isComputed = mentioned.contains { column($0)?.isComputed ?? true }
            try Unsuitable.unless(!isComputed && mentioned.isDisjoint(with: names), "another unique index")
        }
        try Unsuitable.unless(!foreignKeys.contains { $0.parent == id }, "rows that refer to their own table")
        let updated = Set(table.valueColumns.map { $0.lowercased() })
        try Unsuitable.unless(
            children.allSatisfy { updated.isDisjoint(with: $0.targets.map { $0.lowercased() }) },
            "columns that other tables refer to")
    }
}

extension StoredTable {
    /// Returns true if the table's properties for staging are unchanged.
    fileprivate func isSame(as staged: StoredTable) -> Bool {
        primaryKey == staged.primaryKey && generatedKey == staged.generatedKey
            && uniqueIndexes == staged.uniqueIndexes
            && columns.count == staged.columns.count
            && zip(columns, staged.columns).allSatisfy {
                $0.name == $1.name && $0.type == $1.type && $0.isGenerated == $1.isGenerated
                    && $0.isNotNull == $1.isNotNull
            }
    }
}
