/// What is said of a key: its line in the reference.
package struct KeyEntry: Sendable {
    /// Where else than in its own table the key may stand.
    package enum Inheritance: Sendable {
        case never
        /// In the tables around, too; the nearest value counts.
        case nearest
        /// In the tables around, too; their entries are merged name by name.
        case merged
    }

    package let name: String
    let type: KeyType
    /// The default, as TOML and JSON write it.
    let fallback: KeyDefault<String>
    package let inheritance: Inheritance
    /// One sentence.
    package let meaning: String

    /// The type, as the reference writes it.
    package var typeText: String { type.text }

    /// The default, as the reference writes it.
    package var defaultText: String {
        switch fallback {
        case .none: "none"
        case .requiring: "required"
        case .value(let value): "`\(value)`"
        case .described(let text): text
        }
    }
}

/// The keys of one table of `sources.toml`.
package struct KeyTable: Sendable {
    /// The table's header: `[[sources.NAME.requests]]`.
    package let header: String
    package let meaning: String
    let keys: [any DeclaredKey]
    /// What the keys require of each other.
    let rules: [KeyRule]
    let names: Set<String>

    /// - Parameter rules: those of them count whose keys the table has.
    init(_ header: String, _ meaning: String, _ keys: [any DeclaredKey], rules: [KeyRule]) {
        let names = Set(keys.map(\.entry.name))
        self.header = header
        self.meaning = meaning
        self.keys = keys
        self.names = names
        self.rules = rules.filter { names.isSuperset(of: $0.names) }
    }

    /// Creates the table of the keys that a group declares as its properties.
    ///
    /// - Parameter inner: the table that inherits from this one.
    init(_ header: String, _ meaning: String, _ group: some KeyGroup, inner: KeyTable? = nil, rules: [KeyRule] = []) {
        let keys = Mirror(reflecting: group).children.compactMap { $0.value as? any DeclaredKey }
        self.init(header, meaning, keys + (inner?.inheritable ?? []), rules: rules + (inner?.rules ?? []))
    }

    package var entries: [KeyEntry] { keys.map(\.entry) }

    /// The header without its brackets.
    package var path: String { header.filter { $0 != "[" && $0 != "]" } }

    /// Every table of the file, each once.
    package static var all: [KeyTable] {
        var found: [String: KeyTable] = [:]
        func add(_ table: KeyTable) {
            guard found.updateValue(table, forKey: table.header) == nil else { return }
            for entry in table.entries { entry.type.group.map { add($0.table) } }
        }
        add(FileKeys.table)
        return found.values.sorted { $0.header < $1.header }
    }

    /// Returns the tables around this one, and those within it, that can have a key: `[sources.shop]`; nil if none can.
    ///
    /// - Parameter place: this table in the file.
    func places(of key: String, from place: TOMLKeyPath) -> String? {
        // The keys of `[defaults]` are those of sources.
        let own = path == DefaultKeys.table.path ? SourceKeys.table.path : path
        func isWithin(_ inner: String, _ outer: String) -> Bool { inner == outer || inner.hasPrefix(outer + ".") }
        let found = Self.all.filter {
            $0.names.contains(key) && $0.header != header && (isWithin(own, $0.path) || isWithin($0.path, own))
        }
        guard !found.isEmpty else {
            return key == FileKeys.all.include.entry.name ? "the first lines of the file, before all tables" : nil
        }
        // The nearest tables come first.
        let depth = own.split(separator: ".").count
        let nearest = found.map { (abs($0.path.split(separator: ".").count - depth), $0.header) }.sorted { $0 < $1 }
        let name = path.hasPrefix("sources.NAME") ? place.names.dropFirst().first : nil
        return nearest.prefix(3).map { _, header in
            name.map { header.replacing("sources.NAME", with: "sources.\($0)") } ?? header
        }.joined(separator: " or ")
    }

    /// The keys that the tables around may give, too.
    var inheritable: [any DeclaredKey] { keys.filter { $0.entry.inheritance != .never } }
}

/// Keys that stand together in a table.
protocol KeyGroup: Sendable {
    static var table: KeyTable { get }
}
