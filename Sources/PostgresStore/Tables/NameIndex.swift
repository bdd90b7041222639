/// The places of names in a list. A name is found in its own case first, and then in any, where only one is like it.
struct NameIndex: Sendable {
    private var exact: [String: Int] = [:]
    /// By the names in lower case; nil for those of which there are several.
    private var folded: [String: Int?] = [:]

    init(_ names: some Sequence<String>) {
        for (place, name) in names.enumerated() {
            if exact[name] == nil { exact[name] = place }
            let lower = name.lowercased()
            folded[lower] = .some(folded[lower] == nil ? place : nil)
        }
    }

    subscript(name: String) -> Int? { exact[name] ?? folded[name.lowercased()] ?? nil }
}
