import XMLStream

/// A block of a `sources.toml` that loads every repeated record of a document.
///
/// ``RecordFinder`` finds the elements that are records. ``RecordShape`` divides their content into columns and tables
/// below them. ``KeyChoice`` finds their keys. The result is a proposal: types and keys are those that this document's
/// values allow.
package struct MappingProposal: Sendable, Equatable {
    package let sourceName: String
    /// The block, with comments, ending in a line feed.
    package let toml: String

    /// - Parameters:
    ///   - profile: the profile of a whole document.
    ///   - url: the address of the document, as the block is to give it.
    ///   - sourceName: the name of the source; nil for a name made from the URL.
    ///   - takenTables: names of tables that the store uses for something else, such as those of registered parsers.
    /// - Throws: ``InferenceError`` where there is no document, or no value in it.
    package init(
        profile: DocumentProfile, url: String, sourceName: String? = nil, takenTables: Set<String> = []
    ) throws(InferenceError) {
        guard let document = profile.root else {
            throw InferenceError(description: "there is no XML document to propose a mapping for")
        }
        let root = document.foldingRecursion()
        root.foldTwins()
        let tables = Self.tables(root)
        guard tables.contains(where: { $0.weight > 0 }) else {
            throw InferenceError(
                description: "<\(document.name.qualified)> holds no attribute and no text, so there is nothing to load")
        }
        TableNames.assign(to: tables, taken: takenTables)
        let writer = PathWriter(root: root)
        for table in tables { table.complete(writer) }
        let name = sourceName ?? SourceName.make(of: url)
        let source = "sources." + TOMLText.key(name)
        var head = [
            "# Proposed for a document of \(profile.elements) elements; keys and types are what its values allow.",
            "[\(source)]",
            "cache = \"1h\"",
            "",
            "[[\(source).requests]]",
            "key = \(TOMLText.string(name))",
            "url = \(TOMLText.string(url))",
        ]
        if !writer.bindings.isEmpty {
            let bound = writer.bindings.map { "\(TOMLText.key($0.prefix)) = \(TOMLText.string($0.namespace))" }
            head.append("namespaces = { " + bound.joined(separator: ", ") + " }")
        }
        self.sourceName = name
        toml = ([head] + tables.map { Self.block($0, source) }).map { $0.joined(separator: "\n") + "\n" }
            .joined(separator: "\n")
    }

    /// Creates a proposal with a source for each feed of a subscription list.
    package init(sourceName: String, toml: String) {
        self.sourceName = sourceName
        self.toml = toml
    }

    /// Returns the tables: the outermost ones with the most values first, each before those below it.
    private static func tables(_ root: ElementProfile) -> [ProposedTable] {
        let outermost = RecordFinder(root: root).records.flatMap { ProposedTable.tables(for: $0, parent: nil) }
        let found = outermost.isEmpty ? ProposedTable.tables(for: root, parent: nil) : outermost
        let order = found.enumerated().map { ($0.offset, $0.element, $0.element.weight) }
        return order.sorted { $0.2 == $1.2 ? $0.0 < $1.0 : $0.2 > $1.2 }.flatMap(\.1.family)
    }

    private static func block(_ table: ProposedTable, _ source: String) -> [String] {
        var lines = [
            "# \(table.summary)",
            "[[\(source).requests.tables]]",
            "table = \(TOMLText.string(table.name))",
            "element = \(TOMLText.string(table.place))",
        ]
        if !table.key.isEmpty { lines.append("key = \(TOMLText.strings(table.key))") }
        lines.append("sync = \"upsert\"")
        lines.append("[\(source).requests.tables.columns]")
        let width = table.columns.map { TOMLText.key($0.name).count }.max() ?? 0
        for column in table.columns {
            let name = TOMLText.key(column.name)
            let padding = String(repeating: " ", count: width - name.count)
            lines.append("\(name)\(padding) = \(column.declaration)")
        }
        return lines
    }
}
