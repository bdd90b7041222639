import XMLStream

/// A value that may be the key of another table, going by its name: `product`, `product_id` or `default-product` of a
/// `product`. It is a reference where every value of the document is a key of that table, which a ``RecordCounter`` finds.
final class PossibleReference {
    /// The position of the value in its table.
    let value: Int
    let target: ProposedTable
    private var digests: Set<UInt64> = []
    private var isComparable = true

    private init(value: Int, target: ProposedTable) {
        self.value = value
        self.target = target
    }

    /// - Parameter digest: nil for a value that cannot be compared.
    func add(_ digest: UInt64?, _ budget: DigestSet.Budget) {
        guard isComparable else { return }
        guard let digest, budget.isLeft else {
            isComparable = false
            return digests = []
        }
        if digests.insert(digest).inserted { budget.take() }
    }

    /// The position of the target's key among its values; nil where some value is none of its keys.
    var key: Int? {
        guard isComparable, !digests.isEmpty, let unique = target.count.uniqueDigests,
            digests.isSubset(of: unique.digests)
        else { return nil }
        return unique.index
    }

    /// Gives each table the references that its values may be.
    static func assign(to tables: [ProposedTable]) {
        let targets = Dictionary(
            tables.filter { $0.count.inDocument.contains(where: \.isOwn) }.map {
                (SQLName.plain($0.element.name.local), $0)
            }
        ) { first, _ in first }
        guard !targets.isEmpty else { return }
        for table in tables {
            for (index, value) in table.values.enumerated() where !value.isProse && value.profile.filled > 0 {
                guard let target = stem(of: value).flatMap({ self.target(of: $0, among: targets) }),
                    !table.isWithin(target),
                    target.count.inDocument.contains(where: {
                        target.values[$0.index].comparedType == value.comparedType
                    })
                else { continue }
                table.possibleReferences.append(PossibleReference(value: index, target: target))
            }
        }
    }

    /// The last word of a name may be all that names the table: `default_category`.
    private static func target(of words: [String], among targets: [String: ProposedTable]) -> ProposedTable? {
        words.indices.lazy.compactMap { targets[words[$0...].joined()] }.first
    }

    /// Returns the words of a value's name without one that says that it is a key; nil where it names nothing.
    private static func stem(of value: RecordValue) -> [String]? {
        var words = SQLName.words(value.attribute?.local ?? value.holder.name.local)
        if let last = words.last, marks.contains(last) {
            words.removeLast()
            // `<product ref="7"/>`
            if words.isEmpty, value.attribute != nil, !value.steps.isEmpty {
                words = SQLName.words(value.holder.name.local)
            }
        } else if words.count == 1, let name = words.first, let mark = marks.first(where: name.hasSuffix),
            name.count > mark.count + 2
        {
            // `productid`
            words = [name, String(name.dropLast(mark.count))]
        }
        return words.isEmpty ? nil : words
    }

    private static let marks = ["idref", "refid", "ref", "id", "key", "code", "number", "no", "nr"]
}
