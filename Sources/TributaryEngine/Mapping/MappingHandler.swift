import FeedStore
import XMLStream

/// Follows a document and stages the records that its mapping finds.
///
/// An element costs one comparison of numbers to find its ``PathNode``; only where that has work to do is more done. Values
/// are copied as bytes, and converted when their record ends.
final class MappingHandler: XMLStreamHandler {
    /// What records may hold in memory while they wait for a value that comes after them in the document.
    static let waitingLimit = 16 << 20
    /// Distinct paths of elements in one document.
    static let pathLimit = 50_000

    /// What belongs to the open element at a depth, where anything does.
    private final class Level {
        var positions: [Int: Int] = [:]
        var inherited: [Key: [UInt8]] = [:]
        var waiting: [Waiting] = []

        struct Key: Hashable {
            var plan: Int
            var slot: Int
        }

        struct Waiting {
            var instance: RecordInstance
            var slots: [Int]
        }
    }

    private let plans: [RecordPlan]
    private let planner: PathPlanner
    private let context: WorkerContext
    private let expectedRoot: String?
    /// Whether what nothing takes is counted.
    private let notesUnused: Bool
    /// Whether elements that match nothing count as skipped.
    private let countsUnused: Bool
    let root = PathNode(name: XMLName(qualified: "", local: "", namespace: nil), depth: 0, parent: nil)

    // `@exclusivity(unchecked)`: the run's executor only, several times an element.
    @exclusivity(unchecked) private var current: Unmanaged<PathNode>
    @exclusivity(unchecked) private var instances: [RecordInstance] = [] {
        didSet { innermost = instances.last.map { .passUnretained($0) } }
    }
    /// The last of `instances`, without a reference count.
    @exclusivity(unchecked) private var innermost: Unmanaged<RecordInstance>?
    /// How many levels hold anything.
    @exclusivity(unchecked) private var hasLevels = 0
    @exclusivity(unchecked) private var levels: [Level?] = [nil]
    @exclusivity(unchecked) private var collectors: [ElementCollector] = []
    /// How much of each open element's own text the collectors have.
    private var collected: [Int] = []
    private var isWatching: Bool { !collectors.isEmpty || notesUnused }
    private var waitingBytes = 0
    private var paths = 0

    init(
        _ plans: [RecordPlan], context: WorkerContext, root expectedRoot: String?, notesUnused: Bool = false,
        countsUnused: Bool = false
    ) {
        self.countsUnused = countsUnused
        self.plans = plans
        self.context = context
        self.expectedRoot = expectedRoot
        self.notesUnused = notesUnused
        planner = PathPlanner(plans: plans)
        current = .passUnretained(root)
        super.init()
    }

    // MARK: - Elements

    override func didStartElement(in stream: XMLStreamParser) throws {
        let index = stream.nameIndex
        let reference = try current._withUnsafeGuaranteedRef { parent in
            try parent.child(index) ?? makeNode(in: parent, stream)
        }
        current = reference
        try reference._withUnsafeGuaranteedRef { node in
            node.count += 1
            if isWatching { watchStart(of: node, stream) }
            if !node.isIdle, node.leaf == nil { try start(node, stream) }
        }
    }

    private func watchStart(of node: PathNode, _ stream: XMLStreamParser) {
        if !collectors.isEmpty { collectStart(stream, depth: node.depth) }
        if notesUnused { noteAttributes(of: node, stream) }
    }

    override func didEndElement(in stream: XMLStreamParser) throws {
        let reference = current
        try reference._withUnsafeGuaranteedRef { node in
            if !collectors.isEmpty { collectEnd(stream, depth: node.depth) }
            // Only the root node has no parent, and no element ends there.
            current = node.parentReference ?? current
            if let leaf = node.leaf, let innermost, hasLevels == 0,
                innermost._withUnsafeGuaranteedRef({
                    guard $0.depth == leaf.depth, $0.planReference.toOpaque() == leaf.plan.toOpaque() else {
                        return false
                    }
                    $0.take(trimmed(stream.textBytes), leaf.slot)
                    return true
                })
            {
                return
            }
            if !node.isIdle || hasLevels > 0 && levels[node.depth] != nil { try end(node, stream) }
        }
    }

    private func makeNode(in parent: PathNode, _ stream: XMLStreamParser) throws -> Unmanaged<PathNode> {
        let name = stream.name
        let node = PathNode(name: name, depth: parent.depth + 1, parent: parent)
        if node.depth == 1, let expectedRoot, name.local != expectedRoot, name.qualified != expectedRoot {
            throw MappingError("the root element is <\(name.qualified)>, where <\(expectedRoot)> was expected")
        }
        paths += 1
        guard paths <= Self.pathLimit else {
            throw MappingError("the document has more than \(Self.pathLimit) different paths of elements")
        }
        planner.plan(node)
        parent.add(node, name: stream.nameIndex)
        while levels.count <= node.depth { levels.append(nil) }
        return .passUnretained(node)
    }

    private func start(_ node: PathNode, _ stream: XMLStreamParser) throws {
        let depth = node.depth
        for start in node.records where isMet(start.conditions, stream) {
            let plan = start.plan
            plan.records += 1
            let instance = plan.makeInstance(depth: depth, line: stream.line)
            if plan.numbersRecords { instance.record = context.nextRecord() }
            if plan.countsPositions { count(instance, of: plan, in: level(depth - 1)) }
            instances.append(instance)
        }
        for capture in node.atStart where isMet(capture.conditions, stream) {
            switch capture.what {
            case .attribute(let test):
                stream.attributesOfElement.withValue(of: test) { deliver($0, capture) }
            case .attributesByName:
                deliverAttributes(stream, capture)
            case .deepText, .markup:
                collectors.append(ElementCollector(capture, depth: depth))
                collectors[collectors.count - 1].start(stream)
                stream.keepsIndentation = true
                while collected.count <= depth { collected.append(0) }
                collected[depth] = 0
            case .text:
                break
            }
        }
    }

    private func end(_ node: PathNode, _ stream: XMLStreamParser) throws {
        let depth = node.depth
        for capture in node.atEnd where isMet(capture.conditions, stream) {
            deliver(trimmed(stream.textBytes), capture)
        }
        while let collector = collectors.last, collector.depth == depth {
            collectors.removeLast()
            collector.result.withUnsafeBufferPointer { bytes in
                if case .deepText = collector.capture.what {
                    deliver(trimmed(bytes), collector.capture)
                } else {
                    deliver(bytes, collector.capture)
                }
            }
            stream.keepsIndentation = !collectors.isEmpty
        }
        var ended: [(instance: RecordInstance, missing: [Int])] = []
        while let instance = instances.last, instance.depth == depth {
            instances.removeLast()
            ended.append((instance, instance.plan.inherited.isEmpty ? [] : inherit(instance, stream)))
        }
        if let level = levels[depth] {
            levels[depth] = nil
            hasLevels -= 1
            instances.append(contentsOf: ended.map(\.instance))
            for waiting in level.waiting { try settle(waiting, at: depth, inherited: level.inherited) }
            instances.removeLast(ended.count)
        }
        for (instance, missing) in ended {
            relateOutwards(instance)
            try finish(instance, missing)
        }
    }

    /// Ends the document: stages what has waited for a value to the last.
    func didEndDocument(allowsEmpty: Bool) throws {
        if let level = levels[0] {
            levels[0] = nil
            hasLevels -= 1
            for waiting in level.waiting { try settle(waiting, at: 0, inherited: level.inherited) }
        }
        if !allowsEmpty, plans.allSatisfy({ $0.records == 0 }) {
            let wanted = plans.map { "'\($0.mapping.writtenElement)'" }.joined(separator: " or ")
            let found = elements.isEmpty ? "none at all" : elements.prefix(8).joined(separator: ", ")
            throw MappingError(
                "no element of the document is \(wanted); it has \(found). "
                    + "Mend 'element', or set allow_empty = true if a feed without records is meant")
        }
        for plan in plans where plan.mapping.matchesNames && plan.records > 0 { try plan.ignoreUnfound() }
        if countsUnused { context.skippedRows += unused.reduce(0) { $0 + $1.count } }
    }

    /// The outermost elements that neither are records nor give a value, nor hold anything that does.
    var unused: [PathNode] {
        func find(_ node: PathNode) -> [PathNode] {
            node.isUsed ? node.children.flatMap(find) : [node]
        }
        return root.children.flatMap(find)
    }

    /// The paths of the document's elements, the first that came first.
    private var elements: [String] {
        var paths: [String] = []
        func add(_ node: PathNode) {
            paths.append(node.path)
            if paths.count < 8 { node.children.forEach(add) }
        }
        root.children.forEach(add)
        return paths
    }

    // MARK: - Values

    private func isMet(_ conditions: [PathNode.Condition], _ stream: XMLStreamParser) -> Bool {
        conditions.isEmpty || conditions.allSatisfy { stream.attributes(atDepth: $0.depth).satisfy($0.predicates) }
    }

    @inline(__always)
    private func deliver(_ bytes: UnsafeBufferPointer<UInt8>, _ capture: PathNode.Capture) {
        if capture.isInherited { return keep(bytes, capture) }
        for instance in instances.reversed() where instance.depth <= capture.depth {
            guard instance.depth == capture.depth else { return }
            if instance.plan === capture.record {
                return instance.take(bytes, capture.slot)
            }
        }
    }

    /// Keeps a value for the records below the open element at the capture's depth.
    private func keep(_ bytes: UnsafeBufferPointer<UInt8>, _ capture: PathNode.Capture) {
        let key = Level.Key(plan: capture.record.index, slot: capture.slot)
        let level = level(capture.depth)
        guard let known = level.inherited[key] else { return level.inherited[key] = Array(bytes) }
        let column = capture.record.slots[capture.slot].column
        switch column.repetition {
        case .first: break
        case .last: level.inherited[key] = Array(bytes)
        case .join: level.inherited[key] = known + Array(column.separator.utf8) + Array(bytes)
        }
    }

    private func deliverAttributes(_ stream: XMLStreamParser, _ capture: PathNode.Capture) {
        guard let instance = instances.last(where: { $0.plan === capture.record && $0.depth == capture.depth }) else {
            return
        }
        stream.attributesOfElement.forEach { _, name, value in
            if let slot = capture.record.slot(named: XMLName.folded(name.local)) {
                instance.take(value, slot)
            }
        }
    }

    private func count(_ instance: RecordInstance, of plan: RecordPlan, in level: Level) {
        let position = level.positions[plan.index, default: 0] + 1
        level.positions[plan.index] = position
        for (slot, description) in plan.slots.enumerated() {
            guard case .ordinal = description.source else { continue }
            var text = String(position)
            text.withUTF8 { instance.take($0, slot) }
        }
    }

    private func level(_ depth: Int) -> Level {
        if let level = levels[depth] { return level }
        let level = Level()
        levels[depth] = level
        hasLevels += 1
        return level
    }

    // MARK: - Values from above

    /// Fills what comes from enclosing elements; the slots that have to wait until those end.
    private func inherit(_ instance: RecordInstance, _ stream: XMLStreamParser) -> [Int] {
        let plan = instance.plan
        return plan.inherited.filter { slot in
            guard let base = self.base(of: slot, for: instance) else { return false }
            switch plan.slots[slot].source {
            case .path(let path):
                if path.steps.isEmpty, !path.isAbsolute, case .attribute(let test) = path.target {
                    stream.attributes(atDepth: base).withValue(of: test) { instance.take($0, slot) }
                    return false
                }
                guard plan.slots[slot].column.repetition == .first,
                    let value = levels[base]?.inherited[.init(plan: plan.index, slot: slot)]
                else { return true }
                value.withUnsafeBufferPointer { instance.take($0, slot) }
                return false
            case .parent(let parent, let key):
                guard let enclosing = instances.last(where: { $0.plan === parent && $0.depth == base }),
                    parent.slots[key].column.repetition == .first, let value = enclosing[key]
                else { return true }
                instance.take(value, slot)
                return false
            case .relation(let index):
                let relation = plan.relations[index]
                if !instance.has(relation.slot),
                    let enclosing = instances.last(where: { $0.plan === relation.target && $0.depth == base })
                {
                    refer(instance, relation.recordSlot, to: enclosing)
                }
                return false
            case .record(let parent):
                if let enclosing = instances.last(where: { $0.plan === parent && $0.depth == base }) {
                    refer(instance, slot, to: enclosing)
                }
                return false
            case .name, .ordinal:
                return false
            }
        }
    }

    private func refer(_ instance: RecordInstance, _ slot: Int, to other: RecordInstance) {
        var number = String(other.record)
        number.withUTF8 { instance.set($0, slot) }
    }

    /// A record within another one whose table refers to it: the nearest.
    private func relateOutwards(_ instance: RecordInstance) {
        for outer in instances.reversed() where outer !== instance {
            guard let relation = outer.plan.relations.first(where: { $0.target === instance.plan }) else { continue }
            if outer[relation.slot]?.isEmpty ?? true, !outer.has(relation.recordSlot) {
                outer.forget(relation.slot)
                refer(outer, relation.recordSlot, to: instance)
            }
            return
        }
    }

    /// The depth of the element from which, or below which, a slot's value comes; nil where there is none.
    private func base(of slot: Int, for instance: RecordInstance) -> Int? {
        switch instance.plan.slots[slot].source {
        case .path(let path):
            let depth = path.isAbsolute ? 0 : instance.depth - path.ups
            return depth >= (path.isAbsolute ? 0 : 1) ? depth : nil
        case .parent(let parent, _):
            return instances.last { $0.plan === parent && $0.depth < instance.depth }?.depth
        case .relation(let index):
            let target = instance.plan.relations[index].target
            return instances.last { $0.plan === target && $0.depth < instance.depth }?.depth
        case .record(let parent):
            return instances.last { $0.plan === parent && $0.depth < instance.depth }?.depth
        case .name, .ordinal:
            return nil
        }
    }

    /// Stages a record that has ended, or lets it wait for the values that may still come.
    private func finish(_ instance: RecordInstance, _ missing: [Int]) throws {
        guard let depth = missing.compactMap({ base(of: $0, for: instance) }).max() else {
            try instance.plan.stage(instance, context: context)
            instance.plan.recycle(instance)
            return
        }
        waitingBytes += instance.count + 64
        guard waitingBytes <= Self.waitingLimit else {
            let plan = instance.plan
            throw MappingError(
                "more than \(ByteSize.text(Self.waitingLimit)) of records of table '\(plan.mapping.table)' wait for "
                    + "'\(plan.slots[missing[0]].column.writtenPath)', which comes after them in the document")
        }
        level(depth).waiting.append(.init(instance: instance, slots: missing))
    }

    /// The element at a depth has ended, and with it the time to wait for what is in it.
    private func settle(_ waiting: Level.Waiting, at depth: Int, inherited: [Level.Key: [UInt8]]) throws {
        let instance = waiting.instance
        let plan = instance.plan
        waitingBytes -= instance.count + 64
        var missing: [Int] = []
        for slot in waiting.slots {
            guard base(of: slot, for: instance) == depth else {
                missing.append(slot)
                continue
            }
            if case .parent(let parent, let key) = plan.slots[slot].source {
                if let value = instances.last(where: { $0.plan === parent && $0.depth == depth })?[key] {
                    instance.take(value, slot)
                }
            } else if let value = inherited[.init(plan: plan.index, slot: slot)] {
                value.withUnsafeBufferPointer { instance.take($0, slot) }
            }
        }
        try finish(instance, missing)
    }

    // MARK: - Whole elements

    private func collectStart(_ stream: XMLStreamParser, depth: Int) {
        collectText(stream.textBytes(atDepth: depth - 1), depth: depth - 1)
        while collected.count <= depth { collected.append(0) }
        collected[depth] = 0
        for index in collectors.indices { collectors[index].start(stream) }
    }

    private func collectEnd(_ stream: XMLStreamParser, depth: Int) {
        collectText(stream.textBytes, depth: depth)
        for index in collectors.indices { collectors[index].end(stream.qualifiedName) }
    }

    private func collectText(_ text: UnsafeBufferPointer<UInt8>, depth: Int) {
        guard text.count > collected[depth] else { return }
        let new = UnsafeBufferPointer(rebasing: text[collected[depth]...])
        for index in collectors.indices { collectors[index].append(new) }
        collected[depth] = text.count
    }

    // MARK: - What nothing takes

    /// Elements and attributes that no record is, and no column takes.
    func unmatchedElements(request: String) -> [StackPlan.Unmatched] {
        var found: [StackPlan.Unmatched] = []
        func visit(_ node: PathNode) {
            if node.isWithinCollected { return }
            if !node.isUsed { found.append(.init(request: request, path: node.path, count: node.count)) }
            for (name, count) in node.ignoredAttributes.sorted(by: { $0.key < $1.key }) where node.isUsed {
                found.append(.init(request: request, path: node.path + "/@" + name, count: count))
            }
            if node.isUsed { node.children.forEach(visit) }
        }
        root.children.forEach(visit)
        return found
    }

    /// Columns of tables with records for which no record had a value.
    func unmatchedColumns(request: String) -> [StackPlan.Unmatched] {
        plans.filter { $0.records > 0 }.flatMap { plan in
            plan.slots.indices.filter { slot in
                let column = plan.slots[slot].column.name
                return !plan.slots.indices.contains { plan.found[$0] && plan.slots[$0].column.name == column }
            }.map {
                .init(
                    request: request, path: "\(plan.mapping.table).\(plan.slots[$0].column.name)", count: plan.records)
            }
        }
    }

    private func noteAttributes(of node: PathNode, _ stream: XMLStreamParser) {
        stream.attributesOfElement.forEach { _, name, _ in
            let isTaken = node.atStart.contains { capture in
                switch capture.what {
                case .attribute(let test): test.matches(name)
                case .attributesByName: capture.record.slot(named: XMLName.folded(name.local)) != nil
                default: false
                }
            }
            let isInherited = plans.contains { plan in
                plan.slots.contains { slot in
                    if case .path(let path) = slot.source, path.steps.isEmpty, case .attribute(let test) = path.target {
                        path.ups > 0 && test.matches(name)
                    } else {
                        false
                    }
                }
            }
            if !isTaken, !isInherited { node.ignoredAttributes[name.qualified, default: 0] += 1 }
        }
    }
}
