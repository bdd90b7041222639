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
