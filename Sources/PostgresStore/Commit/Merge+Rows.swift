import FeedModel
import FeedStaging
import FeedStores
import PostgresClient

/// New and different rows.
extension Merge {
    /// Merges parts whose rows may share keys.
    func merge(_ group: [StagedStack.Part]) throws -> MergeCounts {
        try merge(disjoint: group.count == 1 ? group : combined(group))
    }

    /// Merges parts of one table that have no key in common.
    private func merge(disjoint parts: [StagedStack.Part]) throws -> MergeCounts {
        var counts = MergeCounts()
        if parts.count == 1, let all = try insertAll(parts[0]) {
            counts.inserted = all
            progress.changes.add(inserted: all, of: parts[0])
            return counts
        }
        let differences = try parts.enumerated().map { try difference(of: $1, number: $0) }
        if onChange != nil {
            for difference in differences { try tellUpdates(difference) }
        }
        // This is done before rows of any shape step aside.
        for difference in differences where difference.updated > 0 {
            try noteMovedRows(difference.table, from: difference.rows)
            try keep(
                details(of: difference.table.table.name), from: difference.storedRows + " WHERE NOT d.is_new")
        }
        for difference in differences {
            counts.inserted += difference.takenBack
            counts.unchanged += difference.unchanged
            progress.changes.add(difference.counts, of: difference.part)
            try noteWritten(difference.table, isNew: "d.is_new", from: difference.rows)
        }
        // A known row may come to refer to a new one of its own table, which then has to be there.
        if let table = parts.first?.table.table.name, try details(of: table).refersToItself {
            try insert(differences, remaining: differences[...], &counts)
            try update(differences, &counts)
        } else {
            // A value that one row gives up may be taken by another.
            try update(differences, &counts)
            try insert(differences, remaining: [], &counts)
        }
        return counts
    }

    private func update(_ differences: [Difference], _ counts: inout MergeCounts) throws {
        for index in differences.indices where differences[index].updated > 0 {
            counts += try update(differences[index], of: differences[index...])
        }
    }

    private func insert(
        _ differences: [Difference], remaining: ArraySlice<Difference>, _ counts: inout MergeCounts
    ) throws {
        for difference in differences where difference.new > 0 {
            counts.inserted += try insert(
                difference.part, difference.new, from: difference.rows + " WHERE d.is_new ORDER BY d.id",
                remaining: remaining)
        }
    }

    /// Inserts every row of a part that need not be compared; returns nil where the rows must be compared.
    private func insertAll(_ part: StagedStack.Part) throws -> Int? {
        let table = part.table
        if case .none = table.identity {
            return try insert(part, part.counts.rows, from: "\(table.staged) s ORDER BY s.\(StagingTable.row)")
        }
        // For an empty table, a large stack is not compared.
        if stack.path != nil, case .key = table.identity,
            try connection.execute("SELECT EXISTS (SELECT 1 FROM \(try stored(table)))")[0].bool(0) == false
        {
            try noteWritten(table, isNew: "true", from: "\(table.staged) s")
            let order = part.isSorted ? "" : " ORDER BY s.\(StagingTable.row)"
            return try insert(part, part.counts.rows, from: "\(table.staged) s\(order)")
        }
        return nil
    }

    private func difference(of part: StagedStack.Part, number: Int) throws -> Difference {
        let stored = try stored(part.table)
        let suffix = number == 0 ? "" : "_\(number)"
        let name = try workTable("difference" + suffix, Difference.columns)
        let takenBack = try takeBackWholeRows(part.table)
        let differing = try connection.execute("INSERT INTO \(name) (id, row, is_new, is_back) " + differenceSQL(part))
            .affectedRows
        guard differing > 0 else {
            return Difference(
                part: part, stored: stored, name: name, suffix: suffix, new: 0, updated: 0, takenBack: takenBack)
        }
        let new = try count("\(name) WHERE is_new")
        let back = try goneColumn(of: part.table) == nil ? 0 : count("\(name) WHERE is_back")
        return Difference(
            part: part, stored: stored, name: name, suffix: suffix, new: new, updated: differing - new, back: back,
            takenBack: takenBack)
    }

    /// Returns a query for the staged rows that are new or differ: a number in their order, their row numbers, and
    /// whether they are new.
    private func differenceSQL(_ part: StagedStack.Part) throws -> String {
        let table = part.table
        let row = "s.\(StagingTable.row)"
        // The rows of a large feed have no order of their own.
        let id = part.isSorted ? row : "row_number() OVER (ORDER BY \(row))"
        guard case .key = table.identity else {
            return """
                SELECT \(id), \(row), true, false FROM \(table.staged) s
                WHERE NOT EXISTS (SELECT 1 FROM \(try stored(table)) m WHERE \(try isSameRow(table, "m", "s")))
                """
        }
        let isNew = "m.tableoid IS NULL"
        var differs = [isNew]
        if table.sync == .upsert || table.sync == .mirror {
            let details = try details(of: table.table.name)
            differs += try table.comparedColumns.map { name in
                let column = try details.needed(name)
                return restoresSpelling
                    ? column.isSpelt("s.\(column.sql)", otherThan: "m.\(column.sql)") : column.differs("s", from: "m")
            }
        }
        let isBack = try goneColumn(of: table).map { "m.\($0) IS NOT NULL" }
        differs += isBack.map { [$0] } ?? []
        return """
            SELECT \(id), \(row), \(isNew), \(isBack ?? "false") FROM \(table.staged) s
            LEFT JOIN \(try stored(table)) m ON \(table.matches("m", "s")) WHERE \(differs.joinedConditions("OR"))
            """
    }

    /// Inserts rows, and journals them.
    ///
    /// - Parameters:
    ///   - rows: the FROM clause, with the staged rows as `s`, and the order.
    ///   - remaining: the rows of the table that are yet to be updated.
    func insert(
        _ part: StagedStack.Part, _ count: Int, from rows: String, remaining: ArraySlice<Difference> = []
    ) throws -> Int {
        let table = part.table
        let details = try details(of: table.table.name)
        let names = table.allColumns.map(\.name)
        let values = names.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
        try tell(table, .insert, sql: "SELECT \(values) FROM \(rows)")
        let overriding =
            try names.contains { try details.needed($0).identity == .always } ? " OVERRIDING SYSTEM VALUE" : ""
        let insertion = """
            INSERT INTO \(details.sql) AS m (\(names.map(\.sqlIdentifier).joined(separator: ", ")))\(overriding)
            SELECT \(values) FROM \(rows) RETURNING \(journalKey(of: table, details, "m")) AS key
            """
        return try makingRoom(in: table, for: remaining) {
            let noting = try noting(details)
            return try journaled(
                insertion + (noting?.returning ?? ""), table.table.name, "insert", besides: noting?.statement ?? "")
        }
    }

    /// Updates the rows that differ.
    ///
    /// - Parameter remaining: this difference, and those of the same table that are to be updated afterwards.
    private func update(_ difference: Difference, of remaining: ArraySlice<Difference>) throws -> MergeCounts {
        let table = difference.table
        let details = try details(of: table.table.name)
        let columns = difference.updatedColumns
        let taken = try rowsTakenAlong(withUpdateOf: details, columns: columns, difference)
        for rows in taken { try keep(rows) }
        let tellTaken = try tellTaken(taken)
        let cleared = try goneColumn(of: table).map { ["\($0) = NULL"] } ?? []
        let assignments = (columns.map(\.sqlIdentifier).map { "\($0) = s.\($0)" } + cleared).joined(separator: ", ")
        // The journal gets the key as the store has it.
        let statement = """
            UPDATE \(details.sql) AS m SET \(assignments) FROM \(difference.rows)
            WHERE NOT d.is_new AND \(table.matches("m", "s"))
            RETURNING \(journalKey(of: table, details, "m")) AS key, d.id, d.is_back
            """
        let updated = try makingRoom(in: table, for: remaining) {
            try journaled(
                statement, table.table.name, "update", order: "id", isBack: difference.back > 0 ? "is_back" : nil)
        }
        try noteNewKeys(difference)
        try tellTaken()
        var counts = try note(taken)
        counts.updated += updated - difference.back
        counts.inserted += difference.back
        // Children that were merged before have been changed along with their parents. They are merged again.
        for rows in taken where try count(rows.name) > 0 { progress.tablesTakenFromLate.insert(rows.table.name) }
        return counts
    }
}
