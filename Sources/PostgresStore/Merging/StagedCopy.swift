import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// Staged rows on their way into temporary tables.
extension PostgresMergeDriver {
    /// The number of rows from which the planner needs full statistics. For fewer rows it needs the number: otherwise
    /// it assumes hundreds of rows, and would read a whole table of the store instead of joining.
    private static let manyRows = 1000

    /// Makes the temporary table of a part, and copies its rows into it.
    func copy(_ part: StagedStack.Part) throws {
        let table = part.table
        let bound = try create(part)
        let source = String(table.name.dropFirst(StagingTable.temporaryPrefix.count))
        let rows = StagedRows(
            scratch: stack.path.map { ($0, source) }, batches: part.batches,
            columns: bound.map { CopiedColumn(name: $0.name, typeName: $0.typeName, emptyIsNull: $0.emptyIsNull) })
        let (count, nulls) = try copy(rows, into: table)
        if stack.path == nil {
            part.counts.rows = count
            part.counts.nulls = nulls
        } else {
            // Empty texts may have become NULL.
            for index in part.counts.nulls.indices.prefix(nulls.count) {
                part.counts.nulls[index] = max(part.counts.nulls[index], nulls[index])
            }
            if part.counts.hasDuplicates { try copyDuplicates(of: table, from: source) }
        }
        if count > 0 {
            let columns = count < Self.manyRows ? " (\(StagingTable.row))" : ""
            try analyze("\(table.staged)\(columns)")
        }
    }

    /// Makes the temporary table of a part.
    ///
    /// - Returns: the columns into which values are copied.
    @discardableResult
    func create(_ part: StagedStack.Part) throws -> [BoundColumn] {
        let table = part.table
        let details = try details(of: table.table.name)
        let bound = try boundColumns(of: table, details)
        do {
            try connection.execute(try creationSQL(of: table, details, bound))
        } catch let error as PostgresError where error.isAboutRows {
            let values = table.constants.map { "\($0.column.name) = \($0.value)" }.joined(separator: ", ")
            throw StoreError(.constraint, "table '\(table.table.name)': \(error.message), in the scope (\(values))")
        }
        return bound
    }

    /// The columns of a temporary table into which values are copied.
    private func boundColumns(of table: StagingTable, _ details: StoredTable) throws -> [BoundColumn] {
        var bound = try table.columns.map { BoundColumn(try details.needed($0.name)) }
        for reference in table.references {
            let target = try self.details(of: reference.target.name)
            for lookup in reference.lookups {
                bound.append(
                    try lookup.column.map { BoundColumn(lookingUp: try target.needed($0), name: lookup.staged) }
                        ?? BoundColumn(number: lookup.staged))
            }
        }
        bound += table.enclosing.map { BoundColumn(number: $0.column) }
        if table.numbersRecords { bound.append(BoundColumn(number: StagingTable.record)) }
        if table.marksDeleted { bound.append(BoundColumn(number: StagingTable.deleted)) }
        return bound
    }

    /// The columns have the types and collations of the store's, so that values compare as the stored ones do.
    private func creationSQL(of table: StagingTable, _ details: StoredTable, _ bound: [BoundColumn]) throws -> String {
        let supplied = Set(table.columns.map(\.name))
        var definitions = ["\(StagingTable.row) bigint NOT NULL"]
        definitions += bound.map { "\($0.name.sqlIdentifier) \($0.definition)" }
        for reference in table.references where !supplied.contains(reference.column.name) {
            let column = try details.needed(reference.column.name)
            // Without the domain, which may refuse NULL: the value is looked up later.
            definitions.append("\(column.sql) \(column.definition)")
        }
        for constant in table.constants {
            let column = try details.needed(constant.column.name)
            definitions.append(
                "\(column.sql) \(column.declaration) DEFAULT \(constant.value.postgresLiteral)")
        }
        return "CREATE TEMP TABLE \(table.staged) (\(definitions.joined(separator: ", "))) ON COMMIT DROP"
    }

    private func copy(_ rows: StagedRows, into table: StagingTable) throws -> (count: Int, nulls: [Int]) {
        let names = ([StagingTable.row] + rows.columns.map(\.name)).map(\.sqlIdentifier).joined(separator: ", ")
        var nulls: [Int] = []
        var written = 0
        do {
            let count = try connection.copyIn("COPY \(table.staged) (\(names)) FROM STDIN") { send in
                try withoutActuallyEscaping(send) { send in
                    let copy = CopyText(send)
                    defer { written = copy.rows }
                    nulls = try rows.write(to: copy)
                    try copy.flush()
                }
            }
            return (count, nulls)
        } catch let problem as CopiedColumn.ValueProblem {
            throw StoreError(
                .constraint,
                "table '\(table.table.name)': \(problem.description), in the row "
                    + (try rows.description(ofRow: written))
            )
        } catch let error as PostgresError where error.isAboutRows {
            let place = CopyPlace(error.context ?? "", table: table.name)
            var message = "table '\(table.table.name)': "
            if let column = place?.column { message += "column '\(column)': " }
            message += error.message
            if let line = place?.line { message += ", in the row \(try rows.description(ofRow: line - 1))" }
            throw StoreError(.constraint, message)
        }
    }

    private func copyDuplicates(of table: StagingTable, from source: String) throws {
        guard let path = stack.path else { return }
        try makeDuplicates(of: table)
        let duplicates = StagedRows(
            scratch: (path, source + "_same"), number: "rowid", batches: [],
            columns: [CopiedColumn(name: "record", typeName: "int8"), CopiedColumn(name: "row", typeName: "int8")])
        try connection.copyIn("COPY \(table.stagedDuplicates) (number, record, row) FROM STDIN") { send in
            try withoutActuallyEscaping(send) { send in
                let copy = CopyText(send)
                _ = try duplicates.write(to: copy)
                try copy.flush()
            }
        }
    }

    func makeDuplicates(of table: StagingTable) throws {
        try connection.execute(
            "CREATE TEMP TABLE \(table.stagedDuplicates) (number bigint, record bigint, row bigint) ON COMMIT DROP")
    }
}

/// A column of a temporary table into which values are copied.
struct BoundColumn {
    var name: String
    var typeName: String
    var definition: String
    var emptyIsNull = false

    /// A column for values of a column of the store.
    init(_ column: StoredTable.Column) {
        name = column.name
        typeName = column.typeName
        definition = column.declaration
        emptyIsNull = column.emptyIsNull
    }

    /// A column for values that are looked up in another table's column.
    init(lookingUp column: StoredTable.Column, name: String) {
        self.name = name
        typeName = column.typeName
        definition = column.definition
        emptyIsNull = column.emptyIsNull
    }

    /// A column for numbers of records.
    init(number name: String) {
        self.name = name
        typeName = "int8"
        definition = "bigint"
    }
}
