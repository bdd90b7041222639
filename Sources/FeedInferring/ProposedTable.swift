import FeedDeclarations
import XMLStream

/// A proposed table for a record, or for a repeated part of one.
final class ProposedTable {
    let element: ElementProfile
    /// The table of the records that enclose this one's records.
    let parent: ProposedTable?
    let values: [RecordValue]
    /// The number of values left out because there would be too many columns.
    private let omitted: Int
    private(set) var children: [ProposedTable] = []

    var name = ""
    private(set) var columns: [ProposedColumn] = []
    private(set) var key: [String] = []
    /// The path of its records.
    private(set) var place = ""
    private var keyReason = ""

    private init(_ element: ElementProfile, _ shape: RecordShape, parent: ProposedTable?) {
        self.element = element
        self.parent = parent
        values = Array(shape.values.prefix(Self.mostColumns))
        omitted = shape.values.count - values.count
        children = shape.records.flatMap { Self.tables(for: $0, parent: self) }
    }

    /// The most columns for values. SQLite allows 2,000, references and position included.
    private static let mostColumns = 1_900

    /// Returns the table of an element's records. An element without columns of its own is only a wrapper, and gives
    /// the tables of its children instead.
    static func tables(for element: ElementProfile, parent: ProposedTable?) -> [ProposedTable] {
        let shape = RecordShape(element)
        guard !shape.values.isEmpty else { return shape.records.flatMap { tables(for: $0, parent: parent) } }
        return [ProposedTable(element, shape, parent: parent)]
    }

    /// This table and those below it, parents first.
    var family: [ProposedTable] { [self] + children.flatMap(\.family) }

    /// The number of filled values in this table and those below it.
    var weight: Int { family.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.profile.filled } } }

    /// True where its records are only texts.
    private var isList: Bool { element.data.isEmpty && element.children.isEmpty }

    /// True where each element between the parent's record and these records occurs once, so that the records are
    /// counted in one sequence.
    private var isDirect: Bool {
        sequence(first: element, next: \.parent).prefix { $0 !== parent?.element }.dropFirst().allSatisfy {
            $0.maximum == 1 && !$0.isRecursive
        }
    }

    // MARK: - Columns

    /// Chooses columns and key. Those of the parent must have been chosen before.
    func complete(_ writer: PathWriter) {
        place = writer.place(of: element)
        var names = UniqueNames(reserved: ["rowid", "oid", "_rowid_"])
        let own = values.map { value in
            ProposedColumn(
                name: names.claim(SQLName.unreserved(SQLName.join(value.names)), fallback: "column"),
                source: .path(value.path(writer)),
                type: MoneyName.isMoney(value.names) && value.profile.isNumber ? .decimal : value.type)
        }
        columns = parent.map { [$0.reference(&names)] } ?? []
        let isOfKeyed = parent.map { !$0.key.isEmpty } ?? false
        if parent == nil {
            chooseKey(own)
            addDay(&names, writer)
        } else if isOfKeyed, isDirect, children.isEmpty || !(unique?.isOwn ?? false) {
            chooseKey(own, within: columns.map(\.name), &names)
        } else {
            chooseKey(own)
            if key.isEmpty, !isOfKeyed, let parent {
                keyReason = "no key: \(parent.name) has none, so equal records of one \(parent.name) are one row"
            }
        }
        columns += own
    }

    private var unique: KeyChoice.Choice? { KeyChoice(record: element, values: values).unique }

    private func chooseKey(_ own: [ProposedColumn]) {
        guard let index = unique?.index else {
            keyReason = "no key: no value is in every record and differs in each, so equal records are one row"
            return
        }
        key = [own[index].name]
        let isPartial = values[index].profile.distinct.isPartial
        keyReason =
            "\(own[index].name) is in every record, and differs in each" + (isPartial ? " that was compared" : "")
    }

    private func chooseKey(_ own: [ProposedColumn], within references: [String], _ names: inout UniqueNames) {
        guard let parent else { return }
        let choice = KeyChoice(record: element, values: values).uniqueAmongSiblings(in: parent.element)
        if !isList, let index = choice?.index {
            key = references + [own[index].name]
            keyReason = "\(own[index].name) differs in each record of one \(parent.name)"
        } else {
            key = references + [addPosition(&names)]
            keyReason = "the key is the position in the \(parent.name)"
        }
    }

    /// A line on the records and their key.
    var summary: String {
        let records = element.count == 1 ? "1 record" : "\(element.count) records"
        return "\(records); \(keyReason)."
            + (omitted > 0
                ? " \(omitted) values more are left out: a table of SQLite's has at most 2,000 columns." : "")
    }

    private func addPosition(_ names: inout UniqueNames) -> String {
        let name = names.claim("position", "ordinal", fallback: "position")
        columns.append(ProposedColumn(name: name, source: .ordinal))
        return name
    }

    /// Adds the day of the records' wrapper (`<Cube time="2026-11-20">`), which applies to each record. Where the key
    /// is no identifier, the day becomes part of it, so that the next day's records do not replace this one's.
    private func addDay(_ names: inout UniqueNames, _ writer: PathWriter) {
        guard let wrapper = element.parent, wrapper.parent != nil, wrapper.count == 1, !element.isRecursive else {
            return
        }
        guard let day = wrapper.data.first(where: { $0.value.type == .date }) else { return }
        let path = "../" + writer.path([], attribute: day.name, of: wrapper)
        let name = names.claim(
            SQLName.unreserved(SQLName.snakeCase(day.name.local)),
            SQLName.unreserved(SQLName.join([wrapper.columnName, SQLName.snakeCase(day.name.local)])),
            fallback: "day")
        columns.append(ProposedColumn(name: name, source: .path(path), type: .date))
        if let unique, !unique.isIdentifier { key.insert(name, at: 0) }
    }

    // MARK: - References of children

    /// Returns the column by which rows of a table below this one name their enclosing record. Without it an export
    /// could not write them into that record. One column cannot hold a key of several columns, or a missing key: the
    /// store then gives the rows of this table their own key.
    private func reference(_ names: inout UniqueNames) -> ProposedColumn {
        let own = key.count == 1 ? key[0] : "id"
        return ProposedColumn(
            name: names.claim(SQLName.unreserved(SQLName.join([name, own])), fallback: "parent"), source: .parent(name))
    }
}
