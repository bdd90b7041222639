import XMLStream

/// The tables that a document's elements would be, before their keys are chosen.
///
/// ``RecordFinder`` finds the elements that are records. ``RecordShape`` divides their content into columns and tables
/// below them. A ``RecordCounter`` then reads the document again.
package final class MappingDraft {
    let root: ElementProfile
    let tables: [ProposedTable]
    /// The first lines of the proposal: its basis.
    let head: [String]
    private let document: ElementProfile

    /// - Parameters:
    ///   - profile: the profile of a whole document. It must not change afterwards.
    ///   - schema: the document's schema, which says what its elements are; nil without one.
    /// - Throws: ``InferenceError`` if there is no document, or no value in it.
    package convenience init(profile: DocumentProfile, schema: SchemaSet? = nil) throws {
        guard let document = profile.root else {
            throw InferenceError(description: "there is no XML document to propose a mapping for")
        }
        let number = "Proposed from a document of \(profile.elements.grouped) elements"
        guard let schema else {
            guard document.name.identity != SchemaName(local: "schema", namespace: SchemaName.schemaNamespace) else {
                throw InferenceError(
                    description:
                        "this is an XML Schema, not a document of one; `tributary infer --xsd FILE` proposes tables "
                        + "for its documents")
            }
            try self.init(document, head: [number + "; keys and types fit its values."], Self.tables)
            return
        }
        let guide = SchemaGuide(schema)
        try guide.describe(document)
        let first = "\(number) and its schema \(schema.location); keys that the schema lacks fit its values."
        try self.init(document, head: [first] + schema.notes + guide.leftOut, Self.tablesOfSchema)
    }

    /// Creates the tables for all that a schema allows.
    ///
    /// - Parameter root: the local name of the documents' root element; nil for the only one possible.
    /// - Throws: ``InferenceError``.
    package convenience init(schema: SchemaSet, root: String?) throws {
        let document = try SchemaGuide(schema).profile(root: root)
        let first =
            "Proposed for <\(document.name.local)> of the schema \(schema.location). "
            + "Give a document, too, to have only what occurs."
        try self.init(document, head: [first] + schema.notes, Self.tablesOfSchema)
    }

    private init(
        _ document: ElementProfile, head: [String], _ makeTables: (ElementProfile) -> [ProposedTable]
    ) throws(InferenceError) {
        self.document = document
        root = document.foldingRecursion()
        self.head =
            head
            + Self.names("Kept as markup, within another of its type or as there would be too many columns:", root) {
                $0.isCut
            }
            + Self.names("Elements of any name may be below these, and have no column:", root) { $0.isOpen }
        tables = makeTables(root)
        guard tables.contains(where: { $0.weight > 0 || $0.values.contains(where: \.isProse) }) else {
            throw InferenceError(
                description: "<\(document.name.qualified)> holds no attribute and no text, so it has no rows")
        }
        let notation = DocumentNotation(tables.flatMap(\.values).filter(\.hasNotation).map(\.profile))
        for table in tables { table.settle(notation) }
        SchemaKeys.assign(to: tables, below: root)
        PossibleReference.assign(to: tables)
    }

    /// Returns a line with the names of declared elements; no line without such an element.
    private static func names(
        _ what: String, _ root: ElementProfile, _ isWanted: (ElementDeclaration) -> Bool
    ) -> [String] {
        var names = Set<String>()
        var list = PathList()
        root.visit { element in
            guard let declaration = element.declaration, isWanted(declaration) else { return }
            if names.insert(element.name.local).inserted { list.append("<\(element.name.local)>") }
        }
        return list.line(what)
    }

    /// A line on the elements and attributes of the document that no table has.
    var unmapped: [String] { UnmappedContent(tables).line(below: root) }

    /// Makes the handler that must read the same document from its beginning to its end, before keys are chosen.
    package func counter() -> RecordCounter { counter(limit: DigestSet.Budget.limit) }

    /// - Parameter limit: the most digests.
    func counter(limit: Int) -> RecordCounter {
        RecordCounter(document, tables, budget: DigestSet.Budget(limit: limit))
    }

    private static func tablesOfSchema(_ root: ElementProfile) -> [ProposedTable] {
        ProposedTable.tables(ofDocument: root).flatMap(\.family)
    }

    /// Returns the tables: the outermost ones with the most values first, each before those below it.
    private static func tables(_ root: ElementProfile) -> [ProposedTable] {
        let root = SOAPResponse(root)?.content ?? root
        let outermost = RecordFinder(root: root).records.flatMap { ProposedTable.tables(for: $0, parent: nil) }
        let found = outermost.isEmpty ? ProposedTable.tables(for: root, parent: nil) : outermost
        let order = found.enumerated().map { ($0.offset, $0.element, $0.element.weight) }
        return order.sorted { $0.2 == $1.2 ? $0.0 < $1.0 : $0.2 > $1.2 }.flatMap(\.1.family)
    }
}
