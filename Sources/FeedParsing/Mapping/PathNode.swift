import XMLStream

/// One distinct path of a document's elements, and what a mapping does with the elements there.
///
/// Made when the first element of a path is met, and found again by a comparison of numbers: the layout for `/rss/channel/item`
/// is made once, whatever the number of items.
final class PathNode {
    let name: XMLName
    let depth: Int
    /// Not retained: a node's parent owns it.
    let parentReference: Unmanaged<PathNode>?
    var parent: PathNode? { parentReference?.takeUnretainedValue() }
    private(set) var children: [PathNode] = []
    /// Names and nodes of the first children once more, without reference counts: looked through for every element.
    @exclusivity(unchecked) private var known = UnsafeMutableBufferPointer<(name: Int32, node: Unmanaged<PathNode>)>
        .allocate(capacity: 0)
    /// Children beyond the first few, which are too many to be looked through.
    @exclusivity(unchecked) private var more: [Int32: Unmanaged<PathNode>] = [:]
    private static let fewChildren = 16

    /// Records that begin with such an element.
    @exclusivity(unchecked) var records: [Start] = []
    /// What is taken of such an element when it begins, and when it ends.
    @exclusivity(unchecked) var atStart: [Capture] = []
    @exclusivity(unchecked) var atEnd: [Capture] = []
    /// Those of `atStart` that take attributes, where they are many: they are not in `atStart` then.
    var attributeCaptures: AttributeCaptures?
    /// Whether an element there needs any attention at all.
    @exclusivity(unchecked) var isIdle = true
    /// Where all that is to be done is to take the element's text for one slot of the innermost record.
    @exclusivity(unchecked) var leaf: Leaf?
    @exclusivity(unchecked) var count = 0
    /// Names of attributes that nothing took, with how many there were; only for `plan`.
    var ignoredAttributes: [String: Int] = [:]

    struct Leaf {
        let layout: Unmanaged<RecordLayout>
        let slot: Int
        let depth: Int
    }

    /// Attributes that the open element at a depth must have.
    struct Condition {
        let depth: Int
        let predicates: [XMLPath.Predicate]
    }

    /// Records of a table that begin with such an element.
    struct Start {
        let layout: RecordLayout
        let conditions: [Condition]
    }

    /// A value that a record, or the records below an element, take from an element.
    struct Capture {
        let record: RecordLayout
        let slot: Int
        /// The depth of the record's element, or of the element below which the records are.
        let depth: Int
        /// Whether the value is kept for the records below the element at `depth`.
        let isInherited: Bool
        let what: What
        /// Conditions on the elements of the path, by depth.
        let conditions: [Condition]

        enum What {
            case text
            case attribute(XMLPath.NameTest)
            case deepText
            case markup
            /// For records that match names: every attribute whose name is that of a column.
            case attributesByName
        }
    }

    init(name: XMLName, depth: Int, parent: PathNode?) {
        self.name = name
        self.depth = depth
        parentReference = parent.map { .passUnretained($0) }
    }

    /// The node of a child element that has been met before.
    @inline(__always)
    func child(_ name: Int32) -> Unmanaged<PathNode>? {
        for child in known where child.name == name { return child.node }
        return more.isEmpty ? nil : more[name]
    }

    func add(_ child: PathNode, name: Int32) {
        children.append(child)
        guard children.count <= Self.fewChildren else { return more[name] = .passUnretained(child) }
        let larger = UnsafeMutableBufferPointer<(name: Int32, node: Unmanaged<PathNode>)>.allocate(
            capacity: children.count)
        _ = larger.initialize(from: known + [(name, Unmanaged.passUnretained(child))])
        known.deallocate()
        known = larger
    }

    deinit { known.deallocate() }

    /// The names from the root to this node.
    var names: [XMLName] {
        var names: [XMLName] = []
        var node: PathNode? = self
        while let current = node, current.depth > 0 {
            names.append(current.name)
            node = current.parent
        }
        return names.reversed()
    }

    var path: String { names.reduce(into: "") { $0 += "/" + $1.qualified } }

    /// Whether the whole content of an element there is taken.
    var isCollected: Bool {
        atStart.contains {
            switch $0.what {
            case .deepText, .markup: true
            default: false
            }
        }
    }

    /// Whether an element there, or below it, is a record or gives a value.
    private(set) var isUsed = false

    /// Notes that an element there is a record or gives a value, if it is one or does.
    func noteUse() {
        guard !isIdle else { return }
        var node: PathNode? = self
        while let current = node, !current.isUsed {
            current.isUsed = true
            node = current.parent
        }
    }
}
