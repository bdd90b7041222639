import TOML

/// The tables that the sources of a file write, as far as it can be read: a file with mistakes has them, too.
package struct DeclaredTables {
    private var tables: [String: Set<String>] = [:]

    package init(file: String) {
        guard let bytes = try? ConfigurationFile.read(file), let document = try? TOMLParser.parse(bytes),
            case .table(let sources)? = document["sources"]
        else { return }
        for entry in sources.entries {
            guard case .table(let source) = entry.node.value else { continue }
            tables[entry.key] = Set(
                Self.elements(source["requests"]).flatMap { Self.elements($0["tables"]) }.compactMap { table in
                    if case .string(let name)? = table["table"] { name } else { nil }
                })
        }
    }

    /// Returns the tables of all sources but one.
    package func tables(except source: String?) -> Set<String> {
        tables.filter { $0.key != source }.values.reduce(into: []) { $0.formUnion($1) }
    }

    private static func elements(_ value: TOMLValue?) -> [TOMLTable] {
        guard case .array(let nodes)? = value else { return [] }
        return nodes.compactMap { if case .table(let table) = $0.value { table } else { nil } }
    }
}
