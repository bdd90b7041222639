import FeedConfiguration
import XMLStream

/// The choice of a key among a record's values.
///
/// A key is in every record and differs from record to record, which a ``RecordCounter`` verifies. Of several candidates,
/// the better name wins (`id` before `artnr`, `ean` and `url`, see ``KeyName``), then attributes before elements, then the
/// shorter value. Texts with spaces come last. Only the record's own attributes and children are considered: an id further
/// down belongs to another record, unless the element that has it is named as the record.
///
/// Values with other names count only where uniqueness is unlikely to be an accident: attributes of at least five records,
/// or children of at least fifty, if they are short texts. For records in records, each enclosing record must have that
/// many on average. Amounts and truth values are never keys. Points in time are keys only if they are called `date`, `day`
/// or `time`.
struct KeyChoice {
    private let record: ElementProfile
    private let values: [RecordValue]

    init(record: ElementProfile, values: [RecordValue]) {
        self.record = record
        self.values = values
    }

    /// A chosen value, by its position.
    struct Choice {
        var index: Int
        /// True if its name says that it identifies the record; a label does not.
        var isIdentifier = false
        /// True if it identifies this record, rather than another that the record refers to.
        var isOwn = false
        /// True if it identifies this record in any document, as an `id` does. Others may come again in another enclosing
        /// record: the `sku` of an order's line.
        var isUniversal = false
        /// False where nothing but its values speaks for it.
        var isNamed = true
    }

    /// The values that may be unique in the document, the best first.
    var unique: [Choice] {
        ranked(of: record.count) { $0.profile.distinct.allDiffer }
    }

    /// Returns the values that may be unique within each of the enclosing records, the best first.
    func uniqueAmongSiblings(in enclosing: ElementProfile) -> [Choice] {
        let found = ranked(of: record.count / max(enclosing.count, 1)) {
            $0.steps.count == ($0.attribute == nil ? 1 : 0) && $0.profile.differAmongSiblings
        }
        // Others may come again within an enclosing record, as the stop of a round trip does.
        return found.filter { isSequence(values[$0.index].plainName) }
            + found.filter { !isSequence(values[$0.index].plainName) }
    }

    /// The position of the value that identifies the only record of a document, by its name; nil if none does.
    var ofSingle: Int? {
        unique.first { $0.isOwn && (values[$0.index].profile.declared == nil || values[$0.index].isRequired) }?.index
    }

    /// The most candidates that are counted, each with memory of its own.
    private static let mostCandidates = 3

    private func ranked(of records: Int, _ mayBeUnique: (RecordValue) -> Bool) -> [Choice] {
        var found: [(choice: Choice, order: [Int])] = []
        for (index, value) in values.enumerated() where value.profile.filled == record.count {
            guard mayBeUnique(value), let rank = rank(value, of: records) else { continue }
            let choice = Choice(
                index: index, isIdentifier: rank < Self.label, isOwn: rank < Self.identifier && rank != Self.item,
                isUniversal: rank < KeyName.universal.count,
                isNamed: rank != Self.unnamed && !KeyName.texts.contains(value.plainName))
            // Texts with spaces are labels or descriptions, unless their name says otherwise.
            let isSpaced = rank >= Self.label && value.profile.hasSpaces
            found.append(
                (
                    choice,
                    [
                        isSpaced ? 1 : 0, rank, value.attribute == nil ? 1 : 0, value.steps.count,
                        value.profile.maximumLength,
                        index,
                    ]
                ))
        }
        let sorted = found.sorted { $0.order.lexicographicallyPrecedes($1.order) }
        return sorted.prefix(Self.mostCandidates).map(\.choice)
    }

    private func rank(_ value: RecordValue, of records: Int) -> Int? {
        guard !value.isProse, value.profile.maximumLength <= ValueProfile.longestKey else { return nil }
        var name = value.plainName
        var depth = value.attribute == nil ? value.steps.count : value.steps.count + 1
        if depth == 2, value.attribute != nil, let last = value.steps.last, Self.carriers.contains(name) {
            name = SQLName.plain(last.name.local)
            depth = 1
        }
        switch value.type {
        case .real, .decimal, .boolean, .blob, .xml: return nil
        case .date, .datetime: return depth == 1 ? KeyName.times.firstIndex(of: name).map { Self.time + $0 } : nil
        case .text, .integer: break
        }
        guard depth <= 1 else {
            let isDeep = ["identifier", "guid", "uuid"].contains(name) || depth == 2 && isOfWrapped(name, value)
            return isDeep ? Self.deep : nil
        }
        if let rank = nameRank(name, of: value) {
            // In a single record every value is unique, so only names that are made for identifiers count.
            return record.count > 1 || rank <= Self.identifier ? rank : nil
        }
        let isShort = value.type == .text && value.profile.maximumLength <= 64
        return isShort && !KeyName.isOfAmountOrTime(value.names) && records >= (value.attribute == nil ? 50 : 5)
            ? Self.unnamed : nil
    }

    /// True for the id of an element that the record wraps: `vehicle/id` of `vehicles`.
    private func isOfWrapped(_ name: String, _ value: RecordValue) -> Bool {
        let wrapped = value.attribute == nil ? value.steps.dropLast().last : value.steps.last
        return name == "id" && wrapped.map { isStem(SQLName.plain($0.name.local)[...]) } ?? false
    }

    private func nameRank(_ name: String, of value: RecordValue) -> Int? {
        if name.hasSuffix("id"), isStem(name.dropLast(2)) { return 0 }
        if let index = KeyName.own.firstIndex(of: name) { return index }
        if KeyName.isOfItem(name) { return Self.item }
        if let index = KeyName.assigned.firstIndex(of: name) { return Self.item + 1 + index }
        let written = value.attribute?.local ?? value.holder.name.local
        let snake = SQLName.snakeCase(written)
        if snake.hasSuffix("_id") || written.count > 2 && written.hasSuffix("ID") { return Self.identifier }
        if KeyName.endsInCode(snake) { return Self.identifier + 1 }
        if isSequence(name) { return Self.sequence }
        return KeyName.labels.firstIndex(of: name).map { Self.label + $0 }
    }

    private func isSequence(_ name: String) -> Bool { name.hasSuffix("sequence") }

    /// True if `productid` is the id of this record: of `product`, or of a `shopproduct`.
    private func isStem(_ stem: Substring) -> Bool {
        let name = SQLName.plain(record.name.local)
        return stem.isEmpty || stem.count > 2 && (name.hasSuffix(stem) || name.hasPrefix(stem))
    }

    /// Attributes that hold the value of their element.
    private static let carriers: Set = ["href", "value", "val", "resource", "about"]

    /// The rank of an article's number: of this record, or of the article that it refers to.
    private static let item = KeyName.own.count
    /// The rank of names that end in `id`.
    private static let identifier = 20
    private static let deep = 22
    /// The rank of a record's place in the order of an enclosing one.
    private static let sequence = 29
    private static let label = 30
    private static let unnamed = 100
    private static let time = 150
}
