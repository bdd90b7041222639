import XMLStream

/// The tables that a document's elements would be, before their keys are chosen.
///
/// ``RecordFinder`` finds the elements that are records. ``RecordShape`` divides their content into columns and tables
/// below them. A ``RecordCounter`` then reads the document again.
package final class MappingDraft {
    let root: ElementProfile
    let tables: [ProposedTable]
    let elements: Int
    private let document: ElementProfile

    /// - Parameter profile: the profile of a whole document. It must not change afterwards.
    /// - Throws: ``InferenceError`` where there is no document, or no value in it.
    package init(profile: DocumentProfile) throws(InferenceError) {
        guard let document = profile.root else {
            throw InferenceError(description: "there is no XML document to propose a mapping for")
        }
        self.document = document
        elements = profile.elements
        root = document.foldingRecursion()
        tables = Self.tables(root)
        guard tables.contains(where: { $0.weight > 0 }) else {
            throw InferenceError(
                description: "<\(document.name.qualified)> holds no attribute and no text, so there is nothing to load")
        }
    }

    /// Makes the handler that must read the same document from its beginning to its end, before keys are chosen.
    package func counter() -> RecordCounter { counter(limit: DigestSet.Budget.limit) }

    /// - Parameter limit: the most digests.
    func counter(limit: Int) -> RecordCounter {
        RecordCounter(document, tables, budget: DigestSet.Budget(limit: limit))
    }

    /// Returns the tables: the outermost ones with the most values first, each before those below it.
    private static func tables(_ root: ElementProfile) -> [ProposedTable] {
        let outermost = RecordFinder(root: root).records.flatMap { ProposedTable.tables(for: $0, parent: nil) }
        let found = outermost.isEmpty ? ProposedTable.tables(for: root, parent: nil) : outermost
        let order = found.enumerated().map { ($0.offset, $0.element, $0.element.weight) }
        return order.sorted { $0.2 == $1.2 ? $0.0 < $1.0 : $0.2 > $1.2 }.flatMap(\.1.family)
    }
}
