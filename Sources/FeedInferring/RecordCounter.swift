import FeedConfiguration
package import XMLStream

/// Reads a document a second time, and finds the keys that distinguish the records of its proposed tables.
///
/// The first reading finds the tables, because only its end shows which elements repeat and which are nested. The
/// second has, for every record, the values that the mapping would find. So the proposed keys are keys of the whole
/// document. It needs memory for the open records and for at most ``DigestSet/Budget/limit`` digests.
package final class RecordCounter: XMLStreamHandler {
    /// The table and the value of it that an attribute or a text is.
    private struct Target {
        let table: Int
        let value: Int
        let type: ValueType
        let spelling: ValueSpelling?
        /// The places of the value among the digests of a record's candidates.
        let keys: [Int]
        let reference: PossibleReference?
    }

    /// What elements at a path of the proposal are.
    private final class Role {
        @exclusivity(unchecked) var tables: [Int] = []
        @exclusivity(unchecked) var attributes: [ElementProfile.Identity: [Target]] = [:]
        @exclusivity(unchecked) var texts: [Target] = []
        @exclusivity(unchecked) var contents: [Target] = []
    }

    /// A path of the document. The paths of elements within one another may have one role.
    private final class Path {
        let profile: ElementProfile
        let role: Role?
        @exclusivity(unchecked) var children = NumberedObjects<Path>()
        @exclusivity(unchecked) var attributes: [Int32: [Target]] = [:]

        init(_ profile: ElementProfile, _ role: Role?) {
            self.profile = profile
            self.role = role
        }
    }

    private final class OpenRecord {
        let table: Int
        let outer: OpenRecord?
        @exclusivity(unchecked) var row: UInt64 = 0
        @exclusivity(unchecked) var keys: [UInt64?]
        /// The records within this one, by table.
        @exclusivity(unchecked) var inner: [Int: RecordCount.Siblings] = [:]

        init(table: Int, keys: Int, outer: OpenRecord?) {
            self.table = table
            self.outer = outer
            self.keys = Array(repeating: nil, count: keys)
        }
    }

    private let document: ElementProfile
    private let parents: [Int?]
    private let counts: [RecordCount]
    private let budget: DigestSet.Budget
    private var roles: [ObjectIdentifier: Role] = [:]

    @exclusivity(unchecked) private var root: Path?
    // `@exclusivity(unchecked)`: one thread changes these, several times an element.
    @exclusivity(unchecked) private var path: [Path] = []
    /// The number of each open element in the document.
    @exclusivity(unchecked) private var numbers: [Int] = []
    @exclusivity(unchecked) private var elements = 0
    /// The open records of each table, the innermost last.
    @exclusivity(unchecked) private var open: [[OpenRecord]]
    /// The records outside of any others, by table.
    @exclusivity(unchecked) private var outermost: [Int: RecordCount.Siblings] = [:]
    private var text = RollingDigest()
    @exclusivity(unchecked) private var contents: [(depth: Int, targets: [Target], start: RollingDigest)] = []
    /// The text of the open elements that `text` does not have yet.
    private var tail = XMLTextTail()

    init(_ document: ElementProfile, _ tables: [ProposedTable], budget: DigestSet.Budget = DigestSet.Budget()) {
        self.document = document
        self.budget = budget
        counts = tables.map(\.count)
        parents = tables.map { table in tables.firstIndex { $0 === table.parent } }
        open = tables.map { _ in [] }
        super.init()
        for (index, table) in tables.enumerated() { register(table, index) }
    }

    private func register(_ table: ProposedTable, _ index: Int) {
        role(of: table.element).tables.append(index)
        let candidates = table.count.inDocument + table.count.amongSiblings
        for (number, value) in table.values.enumerated() {
            let keys = candidates.indices.filter { candidates[$0].index == number }
            let reference = table.possibleReferences.first { $0.value == number }
            guard table.count.comparesRows || !keys.isEmpty || reference != nil else { continue }
            let target = Target(
                table: index, value: number, type: value.comparedType, spelling: value.spelling, keys: keys,
                reference: reference)
            let role = role(of: value.holder)
            if let attribute = value.attribute {
                role.attributes[attribute.identity, default: []].append(target)
            } else if value.isProse {
                role.contents.append(target)
            } else {
                role.texts.append(target)
            }
        }
    }

    private func role(of element: ElementProfile) -> Role {
        if let role = roles[ObjectIdentifier(element)] { return role }
        let role = Role()
        roles[ObjectIdentifier(element)] = role
        return role
    }

    // MARK: - Reading

    package override func didStartElement(in stream: XMLStreamParser) throws {
        let path = try next(stream)
        self.path.append(path)
        elements += 1
        numbers.append(elements)
        if !contents.isEmpty { text.append(tail.takeBeforeElement(in: stream)) }
        guard let role = path.role else { return }
        for table in role.tables { begin(table) }
        if !role.contents.isEmpty {
            tail.begin(in: stream)
            contents.append((stream.depth, role.contents, text))
        }
        guard !role.attributes.isEmpty else { return }
        stream.attributesOfElement.forEach { number, name, value in
            let targets = path.attributes[number] ?? role.attributes[name.identity] ?? []
            path.attributes[number] = targets
            for target in targets { take(trimmed(value), target) }
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        if !contents.isEmpty { text.append(tail.takeRest(in: stream)) }
        numbers.removeLast()
        guard let role = path.removeLast().role else { return }
        for target in role.texts { take(trimmed(stream.textBytes), target) }
        while let last = contents.last, last.depth == stream.depth {
            contents.removeLast()
            for target in last.targets { take(text.digest(since: last.start), target) }
        }
        for table in role.tables { end(table) }
    }

    /// Returns the path of the element that has begun.
    private func next(_ stream: XMLStreamParser) throws -> Path {
        let parent = path.last
        if let known = path.isEmpty ? root : parent?.children[stream.nameIndex]?.takeUnretainedValue() { return known }
        let profile = parent.map { $0.profile.child(stream.name.identity) } ?? document
        guard let profile, profile.name.isSame(as: stream.name) else {
            throw InferenceError(
                description: "line \(stream.line): <\(stream.qualifiedName)> was not there when the document was read "
                    + "first; it must not change while it is read")
        }
        let found = Path(profile, roles[ObjectIdentifier(profile.surviving)])
        if let parent { parent.children.add(found, number: stream.nameIndex) } else { root = found }
        return found
    }

    // MARK: - Records

    private func begin(_ table: Int) {
        let outer = parents[table].flatMap { open[$0].last }
        let count = counts[table]
        let container = numbers.count > 1 ? numbers[numbers.count - 2] : 0
        open[table].append(
            OpenRecord(table: table, keys: count.inDocument.count + count.amongSiblings.count, outer: outer))
        withSiblings(of: table, in: outer) {
            count.begin(in: container, of: &$0, isOrphan: parents[table] != nil && outer == nil)
        }
    }

    private func end(_ table: Int) {
        let record = open[table].removeLast()
        for var inner in record.inner.values { inner.forget(budget) }
        withSiblings(of: table, in: record.outer) {
            counts[table].end(keys: record.keys, row: record.row, among: &$0, budget)
        }
    }

    private func withSiblings(of table: Int, in outer: OpenRecord?, _ body: (inout RecordCount.Siblings) -> Void) {
        if let outer {
            body(&outer.inner[table, default: .init()])
        } else {
            body(&outermost[table, default: .init()])
        }
    }

    private func take(_ value: UnsafeBufferPointer<UInt8>, _ target: Target) {
        guard !value.isEmpty else { return }
        guard let spelling = target.spelling else { return take(ValueDigest.digest(value, as: target.type), target) }
        spelling.canonical(value).withUnsafeBufferPointer { take(ValueDigest.digest($0, as: target.type), target) }
    }

    private func take(_ digest: UInt64?, _ target: Target) {
        target.reference?.add(digest, budget)
        guard let digest, let record = open[target.table].last else { return }
        for key in target.keys { record.keys[key] = digest }
        if counts[target.table].comparesRows { record.row &+= ValueDigest.share(target.value, digest) }
    }
}
