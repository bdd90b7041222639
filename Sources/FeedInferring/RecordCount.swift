/// The result of the second reading of a document for one proposed table: whether and how its records can be
/// distinguished.
final class RecordCount {
    /// The values that may be unique in the document, and those that may be unique within an enclosing record.
    let inDocument: [KeyChoice.Choice]
    let amongSiblings: [KeyChoice.Choice]
    /// True if whole records are compared, because no value may be a key.
    let comparesRows: Bool

    // `@exclusivity(unchecked)`: one thread changes these, several times a record.
    @exclusivity(unchecked) private(set) var records = 0
    /// The records outside of any record of the enclosing table.
    private(set) var orphans = 0
    /// The enclosing records with two or more of the records.
    private(set) var severals = 0
    /// False if the records in one enclosing record lie in several elements.
    private(set) var isDirect: Bool
    /// True if digests were not compared because they were too many.
    private(set) var isPartial = false
    @exclusivity(unchecked) private var documentSets: [DigestSet]
    @exclusivity(unchecked) private var siblingsDiffer: [Bool]
    @exclusivity(unchecked) private(set) var rowsDiffer: Bool

    /// - Parameter isDirect: the result without counting.
    init(
        inDocument: [KeyChoice.Choice], amongSiblings: [KeyChoice.Choice], comparesRows: Bool, isDirect: Bool = true
    ) {
        self.inDocument = inDocument
        self.amongSiblings = amongSiblings
        self.comparesRows = comparesRows
        self.isDirect = isDirect
        documentSets = inDocument.map { _ in DigestSet() }
        siblingsDiffer = amongSiblings.map { _ in true }
        rowsDiffer = comparesRows
    }

    /// Returns the best value that is unique in all records; nil if none is, or none was counted.
    func unique(where isWanted: (KeyChoice.Choice) -> Bool) -> KeyChoice.Choice? {
        guard records > 0 else { return nil }
        return zip(inDocument, documentSets).first { $1.allDiffer && isWanted($0) }?.0
    }

    /// The digests of ``unique``, and its position among the values.
    var uniqueDigests: (index: Int, digests: Set<UInt64>)? {
        guard records > 0 else { return nil }
        return zip(inDocument, documentSets).first { $1.allDiffer }.map { ($0.index, $1.digests) }
    }

    /// False where the records counted show that a key which a schema declares is none.
    func admits(_ key: SchemaKeys.Key) -> Bool {
        guard records > 0, key.values.count == 1 else { return true }
        let counted =
            key.isWithinParent
            ? zip(amongSiblings, siblingsDiffer).first { $0.0.index == key.values[0] }.map(\.1)
            : zip(inDocument, documentSets).first { $0.0.index == key.values[0] }.map(\.1.allDiffer)
        return counted ?? true
    }

    /// The best value that is unique in all records of one enclosing record, and is shown to be a key.
    var uniqueAmongSiblings: KeyChoice.Choice? {
        guard records > 0, orphans == 0 else { return nil }
        return zip(amongSiblings, siblingsDiffer).first { $1 && isShown($0) }?.0
    }

    /// True if enough enclosing records have several of the records: in one with a single record, every value is unique.
    func isShown(_ choice: KeyChoice.Choice) -> Bool { severals >= (choice.isOwn ? 1 : Self.few) }

    /// The fewest enclosing records that show a key whose name is not that of the record's own identifier.
    static let few = 3

    // MARK: - Counting

    /// The records of the table within one record of the enclosing table.
    struct Siblings {
        /// The number of the element around the first of them.
        fileprivate var container: Int?
        fileprivate var count = 0
        fileprivate var keys: [DigestSet] = []
        fileprivate var rows = DigestSet()

        mutating func forget(_ budget: DigestSet.Budget) {
            for index in keys.indices { keys[index].forget(budget) }
            rows.forget(budget)
        }
    }

    /// Notes the beginning of a record.
    ///
    /// - Parameter container: the number of the element around it.
    func begin(in container: Int, of siblings: inout Siblings, isOrphan: Bool) {
        records += 1
        siblings.count += 1
        if isOrphan { orphans += 1 } else if siblings.count == 2 { severals += 1 }
        if let first = siblings.container, first != container { isDirect = false }
        siblings.container = siblings.container ?? container
    }

    /// Compares a record that has ended.
    ///
    /// - Parameters:
    ///   - keys: the digests of the values in ``inDocument``, then of those in ``amongSiblings``; nil if one is
    ///     missing.
    ///   - row: the digest of the whole record.
    func end(keys: [UInt64?], row: UInt64, among siblings: inout Siblings, _ budget: DigestSet.Budget) {
        for index in documentSets.indices {
            documentSets[index].insert(keys[index], budget)
            isPartial = isPartial || documentSets[index].isOverBudget
        }
        while siblings.keys.count < amongSiblings.count { siblings.keys.append(DigestSet()) }
        for index in amongSiblings.indices where siblingsDiffer[index] {
            siblings.keys[index].insert(keys[inDocument.count + index], budget)
            siblingsDiffer[index] = siblings.keys[index].allDiffer
            isPartial = isPartial || siblings.keys[index].isOverBudget
        }
        guard rowsDiffer else { return }
        siblings.rows.insert(row, budget)
        rowsDiffer = siblings.rows.allDiffer
        isPartial = isPartial || siblings.rows.isOverBudget
    }
}
