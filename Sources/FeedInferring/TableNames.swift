import XMLStream

/// Names tables after their elements.
enum TableNames {
    /// Names the tables. Where several tables would have one name, it goes to the only outermost one of them. The
    /// others get the names of their enclosing elements in front (`entry_link`).
    ///
    /// - Parameters:
    ///   - tables: the tables, in the order in which they are named.
    ///   - taken: names that may not be used.
    ///   - rows: what the elements `row` below the root are; nil if they have no other name.
    static func assign(to tables: [ProposedTable], taken: Set<String>, rows: String? = nil) {
        var names = UniqueNames(reserved: Set(taken.map { $0.lowercased() }))
        let byName = Dictionary(grouping: tables) { $0.element.columnName }
        var rest: [ProposedTable] = []
        for table in tables {
            let rivals = byName[table.element.columnName] ?? []
            let isOnlyTop = table.parent == nil && rivals.count { $0.parent == nil } == 1
            if rivals.count == 1 || isOnlyTop {
                let isRow = table.element.parent?.parent == nil && table.element.name.local == "row"
                let name = SQLName.unreserved(isRow ? rows.map(SQLName.snakeCase) ?? "row" : table.element.columnName)
                table.name = names.claim([name] + wishes(table.element), fallback: "record")
            } else {
                rest.append(table)
            }
        }
        for table in rest { table.name = names.claim(wishes(table.element), fallback: "record") }
    }

    /// Returns the name with its parent's in front, then with its grandparent's, and so on, up to the longest name
    /// allowed.
    private static func wishes(_ element: ElementProfile) -> [String] {
        var name = element.columnName
        var wishes: [String] = []
        var next = element.parent
        while let ancestor = next {
            let isLast = ancestor.columnName.count + 1 + name.count > SQLName.longest
            name = SQLName.join([ancestor.columnName, name])
            wishes.append(SQLName.unreserved(name))
            next = isLast ? nil : ancestor.parent
        }
        return wishes
    }
}
