/// Names tables after their elements.
enum TableNames {
    /// A name that several tables would have stays with the only outermost one of them; the others are told apart by
    /// what they lie in (`entry_link`).
    ///
    /// - Parameters:
    ///   - tables: in the order in which names are given out.
    ///   - taken: names that none of them may have.
    static func assign(to tables: [ProposedTable], taken: Set<String>) {
        var names = UniqueNames(reserved: Set(taken.map { $0.lowercased() }))
        let byName = Dictionary(grouping: tables) { $0.element.columnName }
        var rest: [ProposedTable] = []
        for table in tables {
            let rivals = byName[table.element.columnName] ?? []
            let isOnlyTop = table.parent == nil && rivals.count { $0.parent == nil } == 1
            if rivals.count == 1 || isOnlyTop {
                let name = SQLName.unreserved(table.element.columnName)
                table.name = names.claim([name] + wishes(table.element), fallback: "record")
            } else {
                rest.append(table)
            }
        }
        for table in rest { table.name = names.claim(wishes(table.element), fallback: "record") }
    }

    /// With its parent's name, its parent's and grandparent's, and so on, as far as names may be long.
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
