import XMLStream

/// Names tables after their elements.
enum TableNames {
    /// Names the tables. Where several tables would have one name, it goes to the only outermost one of them. The
    /// others get the names of their enclosing elements in front (`entry_link`).
    ///
    /// - Parameters:
    ///   - tables: the tables, in the order in which they are named.
    ///   - taken: names that may not be used.
    ///   - written: names of tables that other sources write; one of these gets the source's name in front.
    ///   - source: the name of the source.
    ///   - rows: what the elements `row` below the root are; nil where they have no other name.
    static func assign(
        to tables: [ProposedTable], taken: Set<String>, written: Set<String> = [], source: String = "",
        rows: String? = nil
    ) {
        let written = Set(written.map { $0.lowercased() })
        var names = UniqueNames(reserved: written.union(taken.map { $0.lowercased() }))
        func avoid(_ name: String, for table: ProposedTable) -> [String] {
            guard written.contains(name.lowercased()) else { return [name] }
            table.avoids = name
            return [SQLName.unreserved(SQLName.join([SQLName.snakeCase(source), name]))]
        }
        let byName = Dictionary(grouping: tables) { $0.element.columnName }
        var rest: [ProposedTable] = []
        for table in tables {
            let rivals = byName[table.element.columnName] ?? []
            let isOnlyTop = table.parent == nil && rivals.count { $0.parent == nil } == 1
            if rivals.count == 1 || isOnlyTop {
                let isRow = table.element.parent?.parent == nil && table.element.name.local == "row"
                let name = SQLName.unreserved(isRow ? rows.map(SQLName.snakeCase) ?? "row" : table.element.columnName)
                table.name = names.claim(avoid(name, for: table) + wishes(table.element), fallback: "record")
            } else {
                rest.append(table)
            }
        }
        for table in rest {
            let wishes = wishes(table.element)
            table.name = names.claim(
                wishes.first.map { avoid($0, for: table) + wishes } ?? wishes, fallback: "record")
        }
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

/// Gives out each name once, regardless of upper and lower case.
struct UniqueNames {
    private var taken: Set<String>
    /// The first number that may be free after a name. Those below it have been tried.
    private var nextNumber: [String: Int] = [:]

    /// - Parameter reserved: names that are not given out, in lower case.
    init(reserved: Set<String> = []) { taken = reserved }

    /// Returns the first of the names that is free, else the first with a number; `fallback` where all are empty.
    mutating func claim(_ wishes: String..., fallback: String) -> String { claim(wishes, fallback: fallback) }

    mutating func claim(_ wishes: [String], fallback: String) -> String {
        let names = wishes.filter { !$0.isEmpty }
        if let free = names.first(where: { taken.insert($0.lowercased()).inserted }) { return free }
        let base = names.first ?? fallback
        var number = nextNumber[base] ?? (names.isEmpty ? 1 : 2)
        defer { nextNumber[base] = number + 1 }
        while true {
            let suffix = number == 1 ? "" : "_\(number)"
            let name = String(base.prefix(SQLName.longest - suffix.count)) + suffix
            if taken.insert(name.lowercased()).inserted { return name }
            number += 1
        }
    }
}
