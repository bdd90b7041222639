import XMLStream

/// A table that a record, or a repeated part of one, is proposed to become.
final class ProposedTable {
    let element: ElementProfile
    /// The table of the record that this one's records lie in.
    let parent: ProposedTable?
    let values: [RecordValue]
    /// Values that are no columns because there would be too many.
    private let omitted: Int
    private(set) var children: [ProposedTable] = []

    var name = ""
    private(set) var columns: [ProposedColumn] = []
    private(set) var key: [String] = []
    /// Where its records are.
    private(set) var place = ""
    private var keyReason = ""

    private init(_ element: ElementProfile, _ shape: RecordShape, parent: ProposedTable?) {
        self.element = element
        self.parent = parent
        values = Array(shape.values.prefix(Self.mostColumns))
        omitted = shape.values.count - values.count
        children = shape.records.flatMap { Self.tables(for: $0, parent: self) }
    }

    /// SQLite allows 2,000, references and position included.
    private static let mostColumns = 1_900

    /// The table of an element's records. One that would have no column of its own is only a wrapper: its children's
    /// tables instead.
    static func tables(for element: ElementProfile, parent: ProposedTable?) -> [ProposedTable] {
        let shape = RecordShape(element)
        guard !shape.values.isEmpty else { return shape.records.flatMap { tables(for: $0, parent: parent) } }
        return [ProposedTable(element, shape, parent: parent)]
    }

    /// This table and those below it, parents first.
    var family: [ProposedTable] { [self] + children.flatMap(\.family) }

    /// The values that it and the tables below it are made of.
    var weight: Int { family.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.profile.filled } } }

    /// Whether its records are nothing but texts.
    private var isList: Bool { element.data.isEmpty && element.children.isEmpty }

    /// Whether what its records lie in, below the parent's record, is there once: they have siblings of one count then.
    private var isDirect: Bool {
        sequence(first: element, next: \.parent).prefix { $0 !== parent?.element }.dropFirst().allSatisfy {
            $0.maximum == 1 && !$0.isRecursive
        }
    }

    // MARK: - Columns

    /// Decides on columns and key; those of the parent must have been decided on.
    func complete(_ writer: PathWriter) {
        place = writer.place(of: element)
        var names = UniqueNames(reserved: ["rowid", "oid", "_rowid_"])
        let own = values.map { value in
            ProposedColumn(
                name: names.claim(SQLName.unreserved(SQLName.join(value.names)), fallback: "column"),
                source: .path(value.path(writer)),
                type: value.type)
        }
        let (references, areComplete) = parent.map { $0.references(from: self) } ?? ([], true)
        columns = references.map { reference in
            var column = reference
            column.name = names.claim(column.name, fallback: "parent")
            return column
        }
        let referenceNames = columns.map(\.name)
        if parent == nil {
            chooseKey(own)
            addDay(&names, writer)
        } else if areComplete, isDirect, children.isEmpty || !(unique?.isOwn ?? false) {
            chooseKey(own, within: referenceNames, &names)
        } else {
            chooseKey(own)
            if key.isEmpty, !areComplete, let parent {
                keyReason = "no key: nothing tells which \(parent.name) a record is in, so equal records are one row"
            }
        }
        columns += own
        for (index, value) in values.enumerated() {
            let position = columns.count - own.count + index
            guard element.count >= 5, value.profile.filled == element.count else { continue }
            if !key.contains(columns[position].name) { columns[position].isRequired = true }
        }
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

    /// A line about the records and their key.
    var summary: String {
        let records = element.count == 1 ? "1 record" : "\(element.count) records"
        return "\(records); \(keyReason)." + (omitted > 0 ? " \(omitted) values more are left out." : "")
    }

    private func addPosition(_ names: inout UniqueNames) -> String {
        let name = names.claim("position", "ordinal", fallback: "position")
        columns.append(ProposedColumn(name: name, source: .ordinal))
        return name
    }

    /// A day that the records' wrapper is for (`<Cube time="2026-11-20">`) belongs to each of them. Where the key is no
    /// identifier, the day is a part of it, so that the next day's records do not replace this one's.
    private func addDay(_ names: inout UniqueNames, _ writer: PathWriter) {
        guard let wrapper = element.parent, wrapper.parent != nil, wrapper.count == 1, !element.isRecursive else {
            return
        }
        guard let day = wrapper.data.first(where: { $0.value.type == .date }) else { return }
        let path = "../" + writer.path([], attribute: day.name, of: wrapper)
        let name = names.claim(
            SQLName.snakeCase(day.name.local), SQLName.join([wrapper.columnName, SQLName.snakeCase(day.name.local)]),
            fallback: "day")
        columns.append(ProposedColumn(name: name, source: .path(path), type: .date))
        if let unique, !unique.isIdentifier { key.insert(name, at: 0) }
    }

    // MARK: - What children refer to

    /// The columns that a table below this one identifies the enclosing record with, and whether they do.
    ///
    /// A key of one column is the `parent`'s. Of a key of several, a stream can answer attributes (`../@id`), but no
    /// positions and no elements that may follow.
    private func references(from child: ProposedTable) -> (columns: [ProposedColumn], areComplete: Bool) {
        guard !key.isEmpty else { return (parent?.references(from: child).columns ?? [], false) }
        if key.count == 1, let only = key.first {
            return ([ProposedColumn(name: SQLName.join([name, only]), source: .parent(name))], true)
        }
        let ups = String(repeating: "../", count: child.element.steps(below: element))
        var references: [ProposedColumn] = []
        for column in columns where key.contains(column.name) {
            switch column.source {
            case .parent: references.append(column)
            case .path(let path) where path.hasPrefix("../"):
                references.append(ProposedColumn(name: column.name, source: .path(ups + path), type: column.type))
            case .path(let path) where path.hasPrefix("@"):
                references.append(
                    ProposedColumn(
                        name: SQLName.join([name, column.name]), source: .path(ups + path), type: column.type))
            case .path, .ordinal: break
            }
        }
        return (references, references.count == key.count)
    }
}

extension ElementProfile {
    /// How many steps an element lies below another.
    func steps(below ancestor: ElementProfile) -> Int {
        sequence(first: self, next: \.parent).prefix { $0 !== ancestor }.count
    }
}
