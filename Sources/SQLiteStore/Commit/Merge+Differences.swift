import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// What staged rows and the store's differ in.
extension Merge {
    /// Finds the rows of a part that are new or differ, and notes them.
    ///
    /// - Parameter number: tells the part from others of the same table.
    func difference(of part: StagedStack.Part, number: Int) throws -> Difference {
        let suffix = number == 0 ? "" : "_\(number)"
        let name = try workTable("difference" + suffix, Difference.columns)
        let takenBack = try takeBackWholeRows(part.table)
        try db.execute(cached: "INSERT INTO \(name) (row, is_new, target, is_back) " + differenceSQL(part))
        let differing = db.changesCount
        func count(_ condition: String) throws -> Int {
            guard differing > 0 else { return 0 }
            return try Int.fetchOne(db.cachedStatement(sql: "SELECT count(*) FROM \(name) WHERE \(condition)")) ?? 0
        }
        let new = try count("is_new")
        let back = try goneColumn(of: part.table.table.name) == nil ? 0 : count("is_back")
        return Difference(
            part: part, name: name, suffix: suffix, new: new, updated: differing - new, back: back, takenBack: takenBack
        )
    }

    /// Returns a query for the staged rows that are new or differ: their row ids, whether they are new, and the row id
    /// of the store's row.
    private func differenceSQL(_ part: StagedStack.Part) -> String {
        let table = part.table
        guard case .key(let key, _) = table.identity else {
            if table.isIdentifiedByManyColumns {
                return """
                    SELECT s.\(StagingTable.row), 1, NULL, 0 FROM \(table.qualifiedName) s
                    WHERE s.\(StagingTable.row) NOT IN (\(table.rowsThatAreInBoth("staged"))) ORDER BY s.\(StagingTable.row)
                    """
            }
            // Without a key, the store's rows are looked up among the staged ones, whose index covers every column.
            return """
                SELECT s.\(StagingTable.row), 1, NULL, 0 FROM \(table.qualifiedName) s
                WHERE s.\(StagingTable.row) NOT IN (
                    SELECT k.\(StagingTable.row) FROM \(table.qualifiedTable) m CROSS JOIN \(table.qualifiedName) k ON \(table.isSameRow("k", "m"))
                ) ORDER BY s.\(StagingTable.row)
                """
        }
        let isNew = "m.\(key[0].sqlIdentifier) IS NULL"
        var differs = [isNew]
        if table.sync == .upsert || table.sync == .mirror {
            differs += table.comparedColumns.map(\.sqlIdentifier).map { self.differs("s.\($0)", from: "m.\($0)") }
        }
        let isBack = goneColumn(of: table.table.name).map { "m.\($0) IS NOT NULL" }
        differs += isBack.map { [$0] } ?? []
        return """
            SELECT s.\(StagingTable.row), \(isNew), \(table.table.rowID.map { "m." + $0 } ?? "NULL"), \(isBack ?? "0") FROM \(table.qualifiedName) s
            LEFT JOIN \(table.qualifiedTable) m ON \(table.matches("m", "s"))
            WHERE \(differs.joinedConditions("OR")) ORDER BY \(order(of: part))
            """
    }

    /// Returns a condition that two values differ.
    func differs(_ left: String, from right: String) -> String {
        let differs = "\(left) IS NOT \(right) COLLATE BINARY"
        return restoresTypes ? "(\(differs) OR typeof(\(left)) <> typeof(\(right)))" : differs
    }

    /// Returns the sort order of a part: a small feed's own order, or the order of the key for a large feed.
    func order(of part: StagedStack.Part) -> String {
        guard part.isSorted, case .key(let key, _) = part.table.identity else { return "s.\(StagingTable.row)" }
        return key.map { "s." + $0.sqlIdentifier }.joined(separator: ", ")
    }
}
