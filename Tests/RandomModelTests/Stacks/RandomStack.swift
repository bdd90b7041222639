import TestStores
import TestSupport

/// A source declared at random: the kind of its key, and which of the features of a mapping it uses. Both stores play it.
struct RandomStack: Sendable {
    /// The type of the root table's key. The store compares it, and documents spell it in several ways.
    enum Key: CaseIterable, Sendable { case text, unicode, noCase, integer, decimal, time, composite, generated }

    /// What becomes of a reference to a maker that the document lacks.
    enum Reference: CaseIterable, Sendable { case absent, create, null, discard }

    /// What a second request writes into the root table.
    enum Second: CaseIterable, Sendable { case absent, otherColumns, otherScope }

    /// How lines, the records within an item, are told apart.
    enum Lines: CaseIterable, Sendable { case absent, numbered, coded, unkeyed }

    var key: Key
    var reference: Reference
    var second: Second
    var lines: Lines
    /// Elements within elements of their own name, in a table that refers to itself.
    var hasTree: Bool
    var isMirror: Bool
    /// A mirror marks rows instead of deleting them.
    var isSoft: Bool
    /// Rows are deleted when their time is older than ``lifetime``.
    var expires: Bool

    /// Seconds until a row expires.
    static let lifetime = 30.0 * 86_400

    init(using random: inout SplitMix64) {
        key = Key.allCases.randomElement(using: &random) ?? .text
        reference = random.oneIn(2) ? .absent : Reference.allCases.randomElement(using: &random) ?? .absent
        second = random.oneIn(2) ? .absent : Second.allCases.randomElement(using: &random) ?? .absent
        lines = random.oneIn(3) ? .absent : Lines.allCases.randomElement(using: &random) ?? .absent
        hasTree = random.oneIn(4)
        isMirror = !random.oneIn(3)
        isSoft = isMirror && random.oneIn(4)
        expires = random.oneIn(5)
        // A parent's key is one column.
        if key == .composite { lines = .absent }
        // A scope needs its column in every table of its request, and in the key.
        if second == .otherScope {
            (reference, hasTree, lines) = (.absent, false, .absent)
            if key == .generated || key == .noCase { key = .text }
        }
        // Both requests would need the date.
        if second == .otherColumns { expires = false }
        // A row that stays although the document lacks it would keep its maker, which goes.
        if isSoft || second == .otherColumns, reference != .absent { reference = .create }
        // What stays behind where a row is marked or expires is another subject.
        if isSoft || expires { lines = .absent }
    }

    /// The key's columns, without the scope's.
    var keyColumns: [String] {
        switch key {
        case .composite: ["id", "part"]
        default: ["id"]
        }
    }

    var regions: [String] { second == .otherScope ? ["north", "south"] : ["north"] }

    // MARK: - As TOML and SQL

    /// `sources.toml`, but for `[store]`.
    func toml(url: String) -> String {
        var requests = [request("a", "north", url: url)]
        if second == .otherScope { requests.append(request("b", "south", url: url)) }
        if second == .otherColumns { requests.append(extra(url: url)) }
        return "[sources.s]\ncache = \"1h\"\nkeep_history = true\n" + requests.joined()
    }

    private func request(_ name: String, _ region: String, url: String) -> String {
        var tables: [String] = []
        if reference == .null || reference == .discard {
            tables.append(table("maker", "maker", key: ["name"], ["name = \"@name\"", "city = \"@city\""]))
        }
        tables.append(root(region))
        if lines != .absent { tables.append(line) }
        if hasTree {
            tables.append(
                table(
                    "node", "node", key: ["code"],
                    ["code = \"@code\"", "parent = { parent = \"node\" }", "name = \"@name\""]))
        }
        return header(name, url: url, scope: second == .otherScope ? region : nil) + tables.joined()
    }

    private func header(_ name: String, url: String, scope: String?) -> String {
        """
        [[sources.s.requests]]
        key = "\(name)"
        url = "\(url)/\(name)"
        sync = "\(isMirror ? "mirror" : "upsert")"
        max_deleted = "100%"
        allow_empty = true
        keep_bodies = 2
        \(scope.map { "scope = { region = \"\($0)\" }" } ?? "")

        """
    }

    private func table(_ name: String, _ element: String, key: [String]?, _ columns: [String], _ options: String = "")
        -> String
    {
        """
        [[sources.s.requests.tables]]
        table = "\(name)"
        element = "\(element)"
        \(key.map { "key = [\($0.map { "\"\($0)\"" }.joined(separator: ", "))]" } ?? "")
        \(options)
        [sources.s.requests.tables.columns]
        \(columns.joined(separator: "\n"))

        """
    }

    private func root(_ region: String) -> String {
        var columns = keyMappings
        columns += ["name = \"@name\"", "amount = { path = \"@amount\", type = \"decimal\" }"]
        columns.append("seen = { path = \"@seen\", type = \"datetime\" }")
        switch reference {
        case .absent: break
        case .create:
            columns.append(
                "maker = { path = \"@maker\", references = \"maker(name)\", missing = \"create\" }")
        case .null: columns.append("maker = { path = \"@maker\", references = \"maker(name)\", missing = \"null\" }")
        case .discard: columns.append("maker = { path = \"@maker\", references = \"maker(name)\" }")
        }
        return table("root", "item", key: (second == .otherScope ? ["region"] : []) + keyColumns, columns, options)
    }

    private var options: String {
        (isSoft ? "deleted = \"gone_at\"\n" : "") + (expires ? "expire = { column = \"seen\", after = \"30d\" }" : "")
    }

    private var keyMappings: [String] {
        let scope = second == .otherScope ? ["region = { path = \"@region\" }"] : []
        switch key {
        case .integer: return scope + ["id = { path = \"@id\", type = \"integer\" }"]
        case .decimal: return scope + ["id = { path = \"@id\", type = \"decimal\" }"]
        case .time: return scope + ["id = { path = \"@id\", type = \"datetime\" }"]
        case .composite: return scope + ["id = \"@id\"", "part = { path = \"@part\", type = \"integer\" }"]
        default: return scope + ["id = \"@id\""]
        }
    }

    private var line: String {
        let parent = "root = { parent = \"root\" }"
        return switch lines {
        case .numbered:
            table(
                "line", "item/line", key: ["root", "number"],
                [parent, "number = { ordinal = true }", "text = \"@text\""])
        case .coded: table("line", "item/line", key: ["code"], [parent, "code = \"@code\"", "text = \"@text\""])
        default: table("line", "item/line", key: nil, [parent, "text = \"@text\""])
        }
    }

    /// A request that fills another column of the same rows.
    private func extra(url: String) -> String {
        header("b", url: url, scope: nil)
            + table("root", "item", key: keyColumns, keyMappings + ["extra = \"@extra\""], options)
    }

    /// The tables that users have made, for a kind of store.
    func schema(for kind: StoreKind) -> String {
        var tables: [String] = []
        if reference != .absent {
            tables.append("CREATE TABLE IF NOT EXISTS maker (id INTEGER PRIMARY KEY, name TEXT UNIQUE, city TEXT);")
        }
        let maker = reference == .absent ? "" : ", maker INTEGER REFERENCES maker (id)"
        let extra = second == .otherColumns ? ", extra TEXT" : ""
        let amount = kind == .sqlite ? "amount" : "amount NUMERIC"
        let time = kind == .sqlite ? "seen TEXT" : "seen timestamptz"
        switch key {
        case .noCase:
            let type = kind == .sqlite ? "TEXT COLLATE NOCASE" : "citext"
            tables.append(
                "CREATE TABLE IF NOT EXISTS root (id \(type) PRIMARY KEY, name TEXT, \(amount), \(time)\(maker)\(extra));"
            )
        case .generated:
            tables.append(
                "CREATE TABLE IF NOT EXISTS root (number INTEGER PRIMARY KEY, id TEXT UNIQUE, name TEXT, \(amount), "
                    + "\(time)\(maker)\(extra));")
        default: break
        }
        return kind.sql(tables.joined(separator: "\n"))
    }
}
