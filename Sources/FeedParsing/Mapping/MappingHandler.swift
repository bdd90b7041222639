import FeedConfiguration
import FeedModel
package import FeedStaging
package import XMLStream

/// Reads a document and stages the records that its mapping finds.
///
/// One comparison of numbers finds the ``PathNode`` of an element. More is done only where the node has work to do.
/// Values are copied as bytes, and converted when their record ends.
package final class MappingHandler: XMLStreamHandler {
    /// The most bytes of memory for records that wait for a later value in the document, and for values kept for
    /// records.
    static let waitingLimit = 64 << 20
    /// The most bytes of all whole elements that are gathered at the same time, nested ones counted together.
    static let wholeLimit = 16 << 20
    /// The most distinct paths of elements in one document.
    static let pathLimit = 50_000

    /// The state of the open element at one depth. Elements without such state have none.
    final class Level {
        private var positions: [Key: Int] = [:]
        var inherited: [Key: [UInt8]] = [:]
        var waiting: [Waiting] = []

        /// The bytes of the values kept for records.
        var inheritedBytes: Int { inherited.values.reduce(0) { $0 + $1.count } }

        /// Returns the next position, from 1, of a layout's records in the element, for one of its slots.
        func next(of layout: RecordLayout, _ slot: Int) -> Int {
            positions[Key(layout: layout.index, slot: slot), default: 0] += 1
            return positions[Key(layout: layout.index, slot: slot)] ?? 1
        }

        struct Key: Hashable {
            var layout: Int
            var slot: Int
        }

        struct Waiting {
            var instance: RecordInstance
            var slots: [Int]
        }
    }

    let layouts: [RecordLayout]
    let pathTree: PathTreeBuilder
    let context: WorkerContext
    private let expectedRoot: String?
    private let allowsEmpty: Bool
    /// True if unused parts of the document are counted.
    let notesUnused: Bool
    /// Sees some elements beside the mapping; nil if nothing else does.
    private let watch: ElementWatch?
    /// True if elements that match nothing count as skipped.
    private let countsUnused: Bool
    let root = PathNode(name: XMLName(qualified: "", local: "", namespace: nil), depth: 0, parent: nil)

    // `@exclusivity(unchecked)`: used by the run's executor only, several times an element.
    @exclusivity(unchecked) var current: Unmanaged<PathNode>
    @exclusivity(unchecked) var instances: [RecordInstance] = [] {
        didSet { innermost = instances.last.map { .passUnretained($0) } }
    }
    /// The last of `instances`, without a reference count.
    @exclusivity(unchecked) var innermost: Unmanaged<RecordInstance>?
    /// The number of levels that exist.
    @exclusivity(unchecked) var hasLevels = 0
    @exclusivity(unchecked) var levels: [Level?] = [nil]
    /// True if the root element has a text and no element, as an error message in JSON may be.
    private(set) var rootIsText = false
    /// The depth of the element that ended last.
    @exclusivity(unchecked) private var lastDepth = 0
    @exclusivity(unchecked) private var whole = WholeElements<PathNode.Capture>()
    private var isWatching: Bool { !whole.isEmpty || notesUnused }
    private let memory = RecordMemory()
    var waitingBytes = 0
    /// True for rows of fields whose columns are known.
    var hasHeader = false
    private var paths = 0
    /// The number of attributes in ``PathNode/ignoredAttributes`` of all paths.
    var notedAttributes = 0

    package init(
        _ layouts: [RecordLayout], context: WorkerContext, root expectedRoot: String?, allowsEmpty: Bool = false,
        notesUnused: Bool = false, countsUnused: Bool = false, watch: ElementWatch? = nil
    ) {
        self.allowsEmpty = allowsEmpty
        self.watch = watch
        self.countsUnused = countsUnused
        self.layouts = layouts
        self.context = context
        self.expectedRoot = expectedRoot
        self.notesUnused = notesUnused
        pathTree = PathTreeBuilder(layouts: layouts)
        current = .passUnretained(root)
        super.init()
        context.beginDocument()
        for layout in layouts {
            layout.memory = memory
            for relation in layout.relations { relation.target.referrers.append(layout) }
        }
    }

    deinit { for layout in layouts { layout.forgetOthers() } }

    // MARK: - Elements

    package override func didReadHeader(_ columns: [String]) throws { try check(columns: columns) }

    /// The line may be any row's, so that a mirror deletes none.
    package override func didReject(line: String, reason: String) throws {
        try context.reject(reason) { RejectedRecord(reason: $0, record: line) }
        for writer in layouts.compactMap({ $0.rows.first?.writer }) { context.noteSkipped(writer) { _, _ in nil } }
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        let index = stream.nameIndex
        let reference = try current._withUnsafeGuaranteedRef { parent in
            try parent.child(index) ?? makeNode(in: parent, stream)
        }
        current = reference
        try reference._withUnsafeGuaranteedRef { node in
            node.count += 1
            if isWatching { try watchStart(of: node, stream) }
            if !node.isIdle, node.leaf == nil { try start(node, stream) }
        }
    }

    private func watchStart(of node: PathNode, _ stream: XMLStreamParser) throws {
        if !whole.isEmpty {
            whole.start(in: stream)
            try checkWhole()
        }
        if notesUnused { noteAttributes(of: node, stream) }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        let reference = current
        try reference._withUnsafeGuaranteedRef { node in
            if !whole.isEmpty { try endWhole(stream) }
            // Only the root node has no parent, and no element ends there.
            current = node.parentReference ?? current
            let holdsElements = lastDepth > node.depth
            lastDepth = node.depth
            if node.depth == 1, !holdsElements { rootIsText = !trimmed(stream.textBytes).isEmpty }
            if take(stream.textBytes, of: node, holdsElements) { return }
            if !node.isIdle || hasLevels > 0 && levels[node.depth] != nil { try end(node, stream, holdsElements) }
        }
    }

    package override func takeElement(_ name: Int32, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard hasLevels == 0, !isWatching,
            let reference = current._withUnsafeGuaranteedRef({ $0.child(name) })
        else { return false }
        return reference._withUnsafeGuaranteedRef { node in
            guard node.isIdle || take(text, of: node, false) else { return false }
            node.count += 1
            lastDepth = node.depth
            if node.depth == 1 { rootIsText = !trimmed(text).isEmpty }
            return true
        }
    }

    /// Gives an element's text to the innermost record. Returns false where more is to be done.
    @inline(__always)
    private func take(_ text: UnsafeBufferPointer<UInt8>, of node: PathNode, _ holdsElements: Bool) -> Bool {
        guard let leaf = node.leaf, let innermost, hasLevels == 0 else { return false }
        return innermost._withUnsafeGuaranteedRef {
            guard $0.depth == leaf.depth, $0.layoutReference.toOpaque() == leaf.layout.toOpaque() else { return false }
            let text = trimmed(text)
            if Self.isValue(text, holdsElements) { $0.take(text, leaf.slot) }
            return true
        }
    }

    /// An element that holds elements and no text, such as a JSON object, has no value.
    private static func isValue(_ text: UnsafeBufferPointer<UInt8>, _ holdsElements: Bool) -> Bool {
        !holdsElements || !text.isEmpty
    }

    private func makeNode(in parent: PathNode, _ stream: XMLStreamParser) throws -> Unmanaged<PathNode> {
        let name = stream.name
        let node = PathNode(name: name, depth: parent.depth + 1, parent: parent)
        if node.depth == 1, let expectedRoot, name.local != expectedRoot, name.qualified != expectedRoot {
            throw MappingError("the root element is <\(name.qualified)>, expected <\(expectedRoot)>")
        }
        paths += 1
        guard paths <= Self.pathLimit else {
            throw MappingError("the document has more than \(Self.pathLimit) different paths of elements")
        }
        pathTree.complete(node)
        node.noteUse()
        if pathTree.counts(name) { node.beginCounting() }
        if let watch, watch.wants(stream), !node.isOfRecord { node.beginWatch() }
        parent.add(node, name: stream.nameIndex)
        while levels.count <= node.depth { levels.append(nil) }
        return .passUnretained(node)
    }

    private func start(_ node: PathNode, _ stream: XMLStreamParser) throws {
        let depth = node.depth
        node.count(in: stream)
        if node.isWatched {
            if node.count > ElementWatch.mostSeen { node.endWatch() }
            if node.isWatched { try watch?.handler.didStartElement(in: stream) }
        }
        for start in node.records where isMet(start.conditions, node, stream) {
            let layout = start.layout
            layout.records += 1
            let instance = layout.makeInstance(depth: depth, line: stream.line)
            if layout.numbersRecords { instance.record = context.nextRecord() }
            if layout.countsPositions { count(instance, of: layout, depth: depth) }
            instances.append(instance)
            layout.open.append(instance)
        }
        if let captures = node.attributeCaptures { try captures.take(stream.attributesOfElement, deliver) }
        for capture in node.atStart where isMet(capture.conditions, node, stream) {
            switch capture.what {
            case .attribute(let test):
                try stream.attributesOfElement.withValue(of: test) { try deliver($0, capture) }
            case .attributesByName:
                deliverAttributes(stream, capture)
            case .deepText, .markup:
                try beginWhole(capture, stream)
            case .text:
                break
            }
        }
    }

    private func end(_ node: PathNode, _ stream: XMLStreamParser, _ holdsElements: Bool) throws {
        let depth = node.depth
        if node.isWatched { try watch?.handler.didEndElement(in: stream) }
        for capture in node.atEnd where isMet(capture.conditions, node, stream) {
            let text = trimmed(stream.textBytes)
            if Self.isValue(text, holdsElements) { try deliver(text, capture) }
        }
        try whole.deliver(in: stream) { try deliver($0, $1) }
        if levels[depth] == nil, let instance = instances.last, instance.depth == depth,
            instance.layout.inherited.isEmpty, instances.count == 1 || instances[instances.count - 2].depth < depth
        {
            instances.removeLast()
            instance.layout.open.removeLast()
            relateOutwards(instance)
            return try finish(instance, [])
        }
        var ended: [(instance: RecordInstance, missing: [Int])] = []
        while let instance = instances.last, instance.depth == depth {
            instances.removeLast()
            ended.append((instance, instance.layout.inherited.isEmpty ? [] : inherit(instance, stream)))
        }
        if let level = levels[depth] {
            levels[depth] = nil
            hasLevels -= 1
            waitingBytes -= level.inheritedBytes
            instances.append(contentsOf: ended.map(\.instance))
            try settleAll(&level.waiting, at: depth, inherited: level.inherited)
            instances.removeLast(ended.count)
        }
        for (instance, _) in ended { instance.layout.open.removeLast() }
        for (instance, missing) in ended {
            relateOutwards(instance)
            try finish(instance, missing)
        }
    }

    /// Ends the document, and stages the records that still wait for a value.
    package override func didEndDocument() throws {
        if let level = levels[0] {
            levels[0] = nil
            hasLevels -= 1
            try settleAll(&level.waiting, at: 0, inherited: level.inherited)
        }
        // Where records were left out, the end of the request says that none is left.
        if !allowsEmpty, context.skipped.invalid == 0, layouts.allSatisfy({ $0.records == 0 }) {
            guard !hasHeader || !root.children.allSatisfy(\.children.isEmpty) else {
                throw MappingError(
                    "the body has a header and no rows; set allow_empty = true if a feed without records is valid")
            }
            let wanted = layouts.map { "'\($0.mapping.writtenElement)'" }.joined(separator: " or ")
            let found = elements.isEmpty ? "none at all" : elements.prefix(8).joined(separator: ", ")
            throw MappingError(
                "no element of the document is \(wanted); it has \(found); "
                    + "correct 'element', or set allow_empty = true if a feed without records is valid")
        }
        for layout in layouts where layout.mapping.matchesNames && layout.records > 0 { try layout.ignoreUnfound() }
        if countsUnused { context.skipped.unaccepted += unused.reduce(0) { $0 + $1.count } }
    }

    // MARK: - Values

    private func isMet(_ conditions: [PathNode.Condition], _ node: PathNode, _ stream: XMLStreamParser) -> Bool {
        conditions.isEmpty
            || conditions.allSatisfy { condition in
                (condition.position == nil || condition.position == node.position(atDepth: condition.depth))
                    && stream.attributes(atDepth: condition.depth).satisfy(condition.predicates)
            }
    }

    @inline(__always)
    func deliver(_ bytes: UnsafeBufferPointer<UInt8>, _ capture: PathNode.Capture) throws {
        if capture.isInherited { return try keep(bytes, capture) }
        record(for: capture)?.take(bytes, capture.slot)
    }

    private func beginWhole(_ capture: PathNode.Capture, _ stream: XMLStreamParser) throws {
        // What no record takes is not gathered.
        guard capture.isInherited || record(for: capture)?.mayTake(capture.slot) ?? false else { return }
        let isMarkup = if case .markup = capture.what { true } else { false }
        whole.begin(capture, isMarkup: isMarkup, in: stream)
        try checkWhole()
    }

    private func endWhole(_ stream: XMLStreamParser) throws {
        whole.end(in: stream)
        try checkWhole()
    }

    private func checkWhole() throws {
        guard whole.count <= Self.wholeLimit else {
            throw MappingError(
                "more than \(ByteSize.text(Self.wholeLimit)) of elements that columns take whole (type = \"xml\", "
                    + "string(…)) are open at the same time; map smaller elements")
        }
    }

    /// Returns the open record that takes the value of a capture.
    func record(for capture: PathNode.Capture) -> RecordInstance? {
        for instance in instances.reversed() where instance.depth <= capture.depth {
            guard instance.depth == capture.depth else { return nil }
            if instance.layout === capture.record { return instance }
        }
        return nil
    }

    /// Keeps a value for the records below the open element at the capture's depth.
    private func keep(_ bytes: UnsafeBufferPointer<UInt8>, _ capture: PathNode.Capture) throws {
        let key = Level.Key(layout: capture.record.index, slot: capture.slot)
        let level = level(capture.depth)
        let column = capture.record.slots[capture.slot].column
        let known = level.inherited[key]?.count ?? -1
        // An empty value yields to a later one that is not.
        if known > 0 || known == 0 && bytes.isEmpty, column.repetition == .first {
            if !bytes.isEmpty { capture.record.furtherValues.insert(capture.slot) }
            return
        }
        // In place: a copy for each further value would cost the square of their number.
        if known >= 0, column.repetition == .join {
            level.inherited[key]?.append(contentsOf: column.separator.utf8)
            level.inherited[key]?.append(contentsOf: bytes)
        } else {
            level.inherited[key] = Array(bytes)
        }
        try wait(forMore: (level.inherited[key]?.count ?? 0) - max(known, 0), column.writtenPath, of: capture.record)
    }

    private func deliverAttributes(_ stream: XMLStreamParser, _ capture: PathNode.Capture) {
        guard let instance = instances.last(where: { $0.layout === capture.record && $0.depth == capture.depth }) else {
            return
        }
        let layout = capture.record
        stream.attributesOfElement.forEach { number, name, value in
            if let slot = layout.slot(named: name, number: number) { instance.take(value, slot) }
        }
    }

    /// Gives a record that has begun its positions. The layout has counted it, and it is not among the open ones yet.
    private func count(_ instance: RecordInstance, of layout: RecordLayout, depth: Int) {
        for (slot, description) in layout.slots.enumerated() {
            guard case .ordinal(let count) = description.source else { continue }
            let position: Int
            switch count {
            case .document: position = layout.records
            case .siblings: position = level(depth - 1).next(of: layout, slot)
            case .parent:
                // Records within others of their own table are counted in the record around all of them.
                let parents = layout.parents
                let others = parents.count > 1 ? parents.filter { $0 !== layout } : parents
                guard let outer = others.compactMap({ $0.enclosing(depth)?.depth }).max() else { continue }
                position = level(outer).next(of: layout, slot)
            }
            var text = String(position)
            text.withUTF8 { instance.take($0, slot) }
        }
    }

    func level(_ depth: Int) -> Level {
        if let level = levels[depth] { return level }
        let level = Level()
        levels[depth] = level
        hasLevels += 1
        return level
    }
}

/// A handler that sees a few elements of a document outside the records. Which ones is decided once for each distinct
/// path, so that other elements cost nothing.
package struct ElementWatch {
    /// The most elements of one path that are seen. Elements that occur more often are data.
    static let mostSeen = 20

    let handler: XMLStreamHandler
    /// Returns true if the handler wants the element that has begun.
    let wants: (XMLStreamParser) -> Bool

    package init(_ handler: XMLStreamHandler, wants: @escaping (XMLStreamParser) -> Bool) {
        self.handler = handler
        self.wants = wants
    }
}

/// The error for a record that its mapping does not allow.
package struct MappingError: Error, CustomStringConvertible {
    package var description: String

    init(_ message: String) { description = message }

    init(table: String, column: String, element: String, line: Int, found: String?, expected: String) {
        let value = found.map { "\"\($0.count > 100 ? $0.prefix(100) + "…" : $0)\" is not \(expected)" } ?? expected
        description = "line \(line), \(element): column '\(column)' of table '\(table)': \(value)"
    }
}
