import TOML

/// The sources of a file with their addresses and the tables that they write, as far as the file is TOML. Mistakes in it are
/// ignored.
package struct DeclaredTables {
    private var tables: [String: Set<String>] = [:]
    private var addresses: [String: [String]] = [:]

    package init(file: String) {
        guard let bytes = try? ConfigurationFile.read(file), let document = try? TOMLParser.parse(bytes),
            case .table(let sources)? = document["sources"]
        else { return }
        for entry in sources.entries {
            guard case .table(let source) = entry.node.value else { continue }
            let requests = Self.elements(source["requests"])
            addresses[entry.key] = requests.compactMap { if case .string(let url)? = $0["url"] { url } else { nil } }
            tables[entry.key] = Set(
                requests.flatMap { Self.elements($0["tables"]) }.compactMap { table in
                    if case .string(let name)? = table["table"] { name } else { nil }
                })
        }
    }

    /// Returns the tables of all sources but one.
    package func tables(except source: String?) -> Set<String> {
        tables.filter { $0.key != source }.values.reduce(into: []) { $0.formUnion($1) }
    }

    /// Returns a name, with a number where another source has it: one with other addresses.
    ///
    /// - Parameter address: a URL, or the path of a file.
    package func freeName(_ name: String, for address: String) -> String {
        let end = "/" + address.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        func isFree(_ name: String) -> Bool {
            addresses[name]?.contains { $0 == address || $0.hasSuffix(end) } ?? true
        }
        var free = name
        var number = 2
        while !isFree(free) {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }

    private static func elements(_ value: TOMLValue?) -> [TOMLTable] {
        guard case .array(let nodes)? = value else { return [] }
        return nodes.compactMap { if case .table(let table) = $0.value { table } else { nil } }
    }
}
