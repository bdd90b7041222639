import XMLStream

/// One distinct path of elements in a document, with the mapping's work for the elements there.
///
/// Created for the first element of a path, and later found by a comparison of numbers: the node for
/// `/rss/channel/item` is created once, whatever the number of items.
final class PathNode {
    let name: XMLName
    let depth: Int
    /// Not retained: a node's parent owns it.
    let parentReference: Unmanaged<PathNode>?
    var parent: PathNode? { parentReference?.takeUnretainedValue() }
    private(set) var children: [PathNode] = []
    /// The children again, by name.
    @exclusivity(unchecked) private var known = NumberedObjects<PathNode>()

    /// Records that begin with an element at this path.
    @exclusivity(unchecked) var records: [Start] = []
    /// The values taken when an element at this path begins, and when it ends.
    @exclusivity(unchecked) var atStart: [Capture] = []
    @exclusivity(unchecked) var atEnd: [Capture] = []
    /// The captures of attributes, where there are many. They are then not in `atStart`.
    var attributeCaptures: AttributeCaptures?
    /// True if an element there needs no work.
    @exclusivity(unchecked) var isIdle = true
    /// Set if the only work is to take the element's text for one slot of the innermost record.
    @exclusivity(unchecked) var leaf: Leaf?
    @exclusivity(unchecked) var count = 0
    /// True while an ``ElementWatch`` sees the elements there. Such a node is neither idle nor a leaf.
    @exclusivity(unchecked) private(set) var isWatched = false
    /// What the node was before it was watched.
    private var unwatched: (isIdle: Bool, leaf: Leaf?) = (true, nil)
    /// The names and counts of attributes that nothing took; only for `plan`.
    var ignoredAttributes: [String: Int] = [:]

    struct Leaf {
        let layout: Unmanaged<RecordLayout>
        let slot: Int
        let depth: Int
    }

    /// Conditions on the open element at a depth: its position among its siblings, and its attributes.
    struct Condition {
        let depth: Int
        let position: Int?
        let predicates: [XMLPath.Predicate]
    }

    /// Records of a table that begin with such an element.
    struct Start {
        let layout: RecordLayout
        let conditions: [Condition]
    }

    /// A value that a record, or the records below an element, takes from an element.
    struct Capture {
        let record: RecordLayout
        let slot: Int
        /// The depth of the record's element, or of the element below which the records are.
        let depth: Int
        /// True if the value is kept for the records below the element at `depth`.
        let isInherited: Bool
        let what: What
        /// Conditions on the elements of the path, by depth.
        let conditions: [Condition]

        enum What {
            case text
            case attribute(XMLPath.NameTest)
            case deepText
            case markup
            /// Every attribute with the name of a column, for records that match by name.
            case attributesByName
        }
    }

    /// The position of the open element there among its siblings of the same name, and the number of their parent; nil
    /// if no path asks for it. A node with a position is neither idle nor a leaf.
    private var place: (position: Int, parent: Int)?

    func beginCounting() {
        place = (0, -1)
        (isIdle, leaf) = (false, nil)
    }

    /// Counts an element that has begun.
    func count(in stream: XMLStreamParser) {
        guard let last = place else { return }
        let parent = depth > 1 ? stream.elementNumber(atDepth: depth - 1) : 0
        place = (last.parent == parent ? last.position + 1 : 1, parent)
    }

    /// Returns the position of the open element at a depth.
    func position(atDepth depth: Int) -> Int? {
        depth == self.depth ? place?.position : parent?.position(atDepth: depth)
    }

    func beginWatch() {
        unwatched = (isIdle, leaf)
        (isWatched, isIdle, leaf) = (true, false, nil)
    }

    func endWatch() {
        isWatched = false
        (isIdle, leaf) = unwatched
    }

    init(name: XMLName, depth: Int, parent: PathNode?) {
        self.name = name
        self.depth = depth
        parentReference = parent.map { .passUnretained($0) }
    }

    /// Returns the node of a child element that has occurred before.
    @inline(__always)
    func child(_ name: Int32) -> Unmanaged<PathNode>? { known[name] }

    func add(_ child: PathNode, name: Int32) {
        children.append(child)
        known.add(child, number: name)
    }

    /// The names from the root to this node.
    var names: [XMLName] {
        sequence(first: self, next: \.parent).prefix { $0.depth > 0 }.map(\.name).reversed()
    }

    /// True if the whole content of an element there is taken.
    var isCollected: Bool {
        atStart.contains {
            switch $0.what {
            case .deepText, .markup: true
            default: false
            }
        }
    }

    /// True if an element there or below is a record or gives a value.
    private(set) var isUsed = false

    /// Returns true if the elements here are those of a path from the root, or enclose them.
    func leads(to path: XMLPath) -> Bool {
        if path.isAnywhere { return ends(path) }
        return depth <= path.steps.count && zip(path.steps, names).allSatisfy { step, name in step.test.matches(name) }
    }

    /// Returns true if the elements here are those of a path from the root.
    func ends(_ path: XMLPath) -> Bool {
        (path.isAnywhere ? depth >= path.steps.count : depth == path.steps.count)
            && zip(path.steps, names.suffix(path.steps.count)).allSatisfy { step, name in step.test.matches(name) }
    }

    /// Sets ``isUsed`` on this node and those above it, if an element there is a record or gives a value.
    func noteUse() {
        guard !isIdle else { return }
        for node in sequence(first: self, next: \.parent).prefix(while: { !$0.isUsed }) { node.isUsed = true }
    }

    /// True if an element there is, or is within, a record that may occur several times.
    var isOfRecord: Bool {
        sequence(first: self, next: \.parent).prefix { $0.depth > 1 }.contains { !$0.records.isEmpty }
    }
}
