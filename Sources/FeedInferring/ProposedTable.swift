import FeedConfiguration
import Foundation
import XMLStream

/// A proposed table for a record, or for a repeated part of one.
final class ProposedTable {
    let element: ElementProfile
    /// The table of the records that enclose this one's records.
    let parent: ProposedTable?
    private(set) var values: [RecordValue]
    /// The keys that distinguish the records, once a ``RecordCounter`` has read the document.
    private(set) lazy var count = makeCount()
    /// The number of values left out because there would be too many columns.
    private let omitted: Int
    private(set) var children: [ProposedTable] = []

    var name = ""
    private(set) var columns: [ProposedColumn] = []
    private(set) var key: [String] = []
    /// The path of its records.
    private(set) var place = ""
    /// The filter of its records, without `'`; nil without one.
    private(set) var filter: String?
    private var keyReason = ""
    /// The attribute around the records that is a column of theirs.
    private(set) var day: (holder: ElementProfile, name: XMLName)?
    /// The key that a schema declares, and the tables whose keys its values refer to, by the values' positions.
    var declaredKey: SchemaKeys.Key?
    var references: [Int: ProposedTable] = [:]
    var possibleReferences: [PossibleReference] = []
    private var hasDeclaredKey = false
    /// The name that the table would have if no other source wrote a table of that name.
    var avoids: String?

    private init(_ element: ElementProfile, _ shape: RecordShape, parent: ProposedTable?, hasChildren: Bool = true) {
        self.element = element
        self.parent = parent
        values = Array(shape.values.prefix(Self.mostColumns))
        omitted = shape.values.count - values.count
        if hasChildren { children = shape.records.flatMap { Self.tables(for: $0, parent: self) } }
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

    /// Returns the tables of a document with a complete schema: the root's table encloses all others if it has a key;
    /// otherwise it has the values of the document itself.
    static func tables(ofDocument root: ElementProfile) -> [ProposedTable] {
        let shape = RecordShape(root)
        guard !shape.values.isEmpty else { return shape.records.flatMap { tables(for: $0, parent: nil) } }
        guard KeyChoice(record: root, values: shape.values).ofSingle == nil else {
            return [ProposedTable(root, shape, parent: nil)]
        }
        return [ProposedTable(root, shape, parent: nil, hasChildren: false)]
            + shape.records.flatMap { tables(for: $0, parent: nil) }
    }

    /// This table and those below it, parents first.
    var family: [ProposedTable] { [self] + children.flatMap(\.family) }

    /// The number of filled values in this table and those below it.
    var weight: Int { family.reduce(0) { $0 + $1.values.reduce(0) { $0 + $1.profile.filled } } }

    /// Decides what the values leave open by those of the document's other columns, before anything is counted.
    func settle(_ notation: DocumentNotation) {
        for index in values.indices { values[index].settle(notation) }
    }

    /// True if its records are only texts.
    private var isList: Bool { element.data.isEmpty && element.children.isEmpty }

    /// True if no value may be a key of the records, nor of those around them.
    private var mayLackKey: Bool { count.inDocument.isEmpty && parent?.mayLackKey ?? true }

    private func makeCount() -> RecordCount {
        let choice = KeyChoice(record: element, values: values)
        let unique = choice.unique
        return RecordCount(
            inDocument: unique, amongSiblings: parent.map { choice.uniqueAmongSiblings(in: $0.element) } ?? [],
            comparesRows: unique.isEmpty && parent?.mayLackKey ?? true, isDirect: isDirect)
    }

    /// True if no element between a record and the one around it may occur twice.
    private var isDirect: Bool {
        guard !element.isRecursive else { return false }
        let between = sequence(first: element, next: \.parent).dropFirst().prefix { $0 !== parent?.element }
        return between.allSatisfy { $0.maximum <= 1 && !$0.isRecursive }
    }

    // MARK: - Columns

    /// Chooses columns and key. Those of the parent must have been chosen before.
    func complete(_ writer: PathWriter) {
        place = writer.place(of: element)
        var names = UniqueNames(reserved: ["rowid", "oid", "_rowid_"])
        let own = values.map { value in
            ProposedColumn(
                name: names.claim(SQLName.unreserved(SQLName.join(value.names)), fallback: "column"),
                source: .path(value.path(writer)), type: value.type, declared: value.profile.declared,
                writing: value.writing,
                isRequired: value.isRequired && value.isInEach(of: self), lacksOffset: value.lacksOffset)
        }
        columns = parent.map { [$0.reference(&names)] } ?? []
        let isOfKeyed = parent.map { !$0.key.isEmpty } ?? false
        // Another document may have the same values below another root.
        let isOfRoot = parent?.element.parent == nil
        let unique = uniqueInDocument
        let isWithin = isOfKeyed && count.orphans == 0 && (children.isEmpty || isOfRoot || unique == nil)
        if let declared = declaredKey, count.admits(declared), !declared.isWithinParent || parent != nil {
            key = (declared.isWithinParent ? [columns[0].name] : []) + declared.values.map { own[$0].name }
            keyReason = "the key is \(declared.reason)"
            hasDeclaredKey = true
        } else if count.records == 0, element.isSingle {
            let choice = KeyChoice(record: element, values: values).ofSingle
            key = choice.map { [own[$0].name] } ?? []
            keyReason = choice.map { "the key is \(own[$0].name)" } ?? "no key: the schema declares none"
        } else if isWithin, !isList, !isDeclared, let choice = count.uniqueAmongSiblings {
            key = [columns[0].name, own[choice.index].name]
            keyReason = "\(key[1]) is unique within each \(parent?.name ?? ""), in all \(number)"
        } else if !isWithin, let choice = unique {
            key = [own[choice.index].name]
            keyReason = element.count == 1 ? "the key is \(key[0])" : "\(key[0]) is unique in all \(number)"
            if !choice.isNamed { keyReason += ", but is not named like a key" }
        } else if !isWithin, !element.isRecursive, count.rowsDiffer, count.orphans == 0, count.records > 0, !isDeclared,
            parent == nil || count.severals >= RecordCount.few
        {
            if element.count == 1 {
                keyReason = "no key: the name of no value is that of a key"
            } else {
                keyReason =
                    parent.map { "no key: \($0.name) has none, and no two records of one \($0.name) are equal" }
                    ?? "no key: \(lackOfKey), but no two of the \(number) are equal"
                keyReason += "; an upsert adds a changed record beside the former row"
            }
        } else {
            addPosition(&names)
        }
        if element.isRecursive { columns.append(selfReference(&names)) }
        if parent == nil, count.records > 0 { addDay(&names, writer) }
        columns += own
        for index in columns.indices where key.contains(columns[index].name) { columns[index].isRequired = false }
        if writer.isOfPage { leaveOutHeader(own) }
    }

    /// Leaves out the header of a page's table: a row like the others, without a `<td>`.
    private func leaveOutHeader(_ own: [ProposedColumn]) {
        let cells = own.filter { if case .path(let path) = $0.source { path.contains("td[") } else { false } }
        // An empty text is a value. Other empty values are none.
        let cell = cells.first { key.contains($0.name) } ?? cells.first { $0.type == .text } ?? cells.first
        if let cell { filter = "\"\(cell.name)\" IS NOT NULL" }
    }

    /// Names the tables that values refer to, once all tables have their names and keys.
    func completeReferences() {
        for (index, table) in references where table !== self && table.hasDeclaredKey {
            columns[columns.count - values.count + index].references = "\(table.name)(\(table.key[0]))"
        }
        for possible in possibleReferences {
            let target = possible.target
            let column = columns.count - values.count + possible.value
            guard let index = possible.key, columns[column].references == nil, !key.contains(columns[column].name),
                target.key == [target.columns[target.columns.count - target.values.count + index].name],
                !target.refers(to: self)
            else { continue }
            columns[column].references = "\(target.name)(\(target.key[0]))"
            columns[column].reason = "each value is a key of \(target.name)"
        }
    }

    private func refers(to table: ProposedTable) -> Bool {
        columns.contains { $0.references == "\(table.name)(\(table.key.first ?? ""))" }
    }

    /// True for the table itself and those around it.
    func isWithin(_ table: ProposedTable) -> Bool {
        sequence(first: self, next: \.parent).contains { $0 === table }
    }

    /// Adds a key that distinguishes any records: their position within the enclosing record, or in the document.
    private func addPosition(_ names: inout UniqueNames) {
        let name = names.claim("position", "ordinal", fallback: "position")
        let within = count.orphans == 0 ? parent : nil
        let isDirect = count.isDirect && (parent == nil || within != nil)
        columns.append(
            ProposedColumn(name: name, source: .ordinal(isDirect ? nil : within == nil ? "document" : "parent")))
        key = (within == nil ? [] : [columns[0].name]) + [name]
        keyReason = "the key is the position in the \(within?.name ?? "document")\(reasonForPosition(within))"
    }

    /// A line on the records and their key.
    var summary: String {
        "\(number); \(keyReason)."
            + (omitted > 0
                ? " \(omitted) values more are left out: a table of SQLite's has at most 2,000 columns." : "")
    }

    private var number: String {
        if count.records == 0 { return element.isSingle ? "One record in a document" : "Any number of records" }
        return element.count == 1 ? "1 record" : element.count.grouped + " records"
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
        self.day = (wrapper, day.name)
        if let unique = uniqueInDocument, !unique.isIdentifier { key.insert(name, at: 0) }
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

extension ProposedTable {
    /// Returns the column by which records within others of their own table name these. It refers to the key, which must have
    /// been chosen.
    private func selfReference(_ uniqueNames: inout UniqueNames) -> ProposedColumn {
        let own = key.count == 1 ? key[0] : "id"
        let column = uniqueNames.claim(
            SQLName.unreserved(SQLName.join(["parent", own])), SQLName.unreserved(SQLName.join(["parent", name, own])),
            fallback: "parent")
        return ProposedColumn(name: column, source: .parent(name), reason: "the \(name) around it")
    }
}

extension Int {
    /// The number with commas between thousands: `7,028`.
    var grouped: String { formatted(.number.grouping(.automatic).locale(Locale(identifier: "en_US"))) }
}

extension ProposedTable {
    /// Returns why the key is the position: a clause, or nothing where the name of the enclosing record says it.
    ///
    /// - Parameter within: the table of the enclosing records; nil for the position in the document.
    private func reasonForPosition(_ within: ProposedTable?) -> String {
        if count.isPartial {
            return ", because at most \(DigestSet.Budget.limit.grouped) values are compared with one another"
        }
        if isDeclared { return ", because the schema declares no key" }
        guard let within else {
            let areEqual = count.comparesRows && !count.rowsDiffer
            return ", because \(lackOfKey)" + (areEqual ? ", and some records are equal" : "")
        }
        if count.severals == 0 {
            return ", because no \(within.name) has more than one, which could show another key"
        }
        return count.severals < RecordCount.few && !count.amongSiblings.isEmpty
            ? ", because too few of them have several to show another key" : ""
    }

    /// True for a table whose records a schema declares. A document shows no more of them than that a key is none.
    var isDeclared: Bool { element.declaration != nil }

    /// The best value that is unique in the document. Records within others need one that is so in every document; those of
    /// a parent with a key of several columns have that parent in theirs, because they are mirrored within it.
    private var uniqueInDocument: KeyChoice.Choice? {
        guard let parent, count.orphans == 0 else {
            return count.unique { !isDeclared || values[$0.index].isRequired }
        }
        return isDeclared || parent.key.count > 1 ? nil : count.unique { $0.isUniversal && count.isShown($0) }
    }

    /// Why no value is a key, with the values that are too long for one.
    private var lackOfKey: String {
        let long = values.filter {
            !$0.isProse && $0.isInEach(of: self) && $0.profile.maximumLength > ValueProfile.longestKey
        }
        let names = long.prefix(3).map { SQLName.join($0.names) } + (long.count > 3 ? ["…"] : [])
        return "no value that may be a key is unique"
            + (long.isEmpty ? "" : " (\(names.joined(separator: ", ")): longer than \(ValueProfile.longestKey) bytes)")
    }

    /// The column of the enclosing record, if the table is mirrored within it: a record that has left it leaves no row. Nil if
    /// the tables below are not mirrored too, because they would keep rows without a parent.
    var parentOfMirror: String? {
        guard let parent, count.orphans == 0, !key.isEmpty,
            // The rows of a parent whose key is of several columns are found when its key is known.
            parent.key.count == 1 || key.contains(columns[0].name),
            children.allSatisfy({ $0.parentOfMirror != nil })
        else { return nil }
        return columns[0].name
    }
}
