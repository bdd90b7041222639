/// The sources of a file and of those that it includes, with their addresses and the tables that they write, as far as the
/// files are TOML. Mistakes in them are ignored.
package struct DeclaredTables {
    private var tablesOfSources: [String: Set<String>] = [:]
    private var addresses: [String: [String]] = [:]

    package init(file: String) {
        for part in ConfigurationPart.readable(from: file) { add(part.document) }
    }

    /// Returns a configuration's files: itself, and those that it includes as far as they can be read.
    package static func files(from main: String) -> [String] {
        [main] + ConfigurationPart.readable(from: main).dropFirst().map(\.file)
    }

    private mutating func add(_ document: TOMLTable) {
        for entry in document["sources"]?.table?.entries ?? [] {
            guard let source = entry.node.value.table else { continue }
            let requests = Self.elements(source["requests"])
            addresses[entry.key] = requests.compactMap { $0["url"]?.string }
            tablesOfSources[entry.key] = Set(
                requests.flatMap { Self.elements($0["tables"]) }.compactMap { $0["table"]?.string })
        }
    }

    /// The tables of all sources.
    package var tables: Set<String> { tablesOfSources.values.reduce(into: []) { $0.formUnion($1) } }

    /// The names of the sources.
    package var names: Set<String> { Set(tablesOfSources.keys) }

    /// Returns a name that no source has: the given one, or that with a number.
    package func freeName(_ name: String) -> String {
        var free = name
        var number = 2
        while tablesOfSources[free] != nil {
            free = "\(name)_\(number)"
            number += 1
        }
        return free
    }

    /// Returns the sources with an address, in the order of their names.
    ///
    /// - Parameter address: a URL, or the path of a file.
    package func sources(at address: String) -> [String] {
        let end = "/" + address.split(separator: "/").filter { $0 != "." }.joined(separator: "/")
        return addresses.filter { $0.value.contains { $0 == address || $0.hasSuffix(end) } }.keys.sorted()
    }

    private static func elements(_ value: TOMLValue?) -> [TOMLTable] {
        value?.array?.compactMap(\.value.table) ?? []
    }
}
