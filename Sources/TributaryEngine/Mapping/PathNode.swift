import XMLStream

/// One distinct path of a document's elements, and what a mapping does with the elements there.
///
/// Made when the first element of a path is met, and found again by a comparison of numbers: the plan for `/rss/channel/item`
/// is made once, whatever the number of items.
final class PathNode {
    let name: XMLName
    let depth: Int
    unowned(unsafe) let parent: PathNode?
    private(set) var children: [PathNode] = []
    private var childNames: [Int32] = []

    /// Records that begin with such an element.
    @exclusivity(unchecked) var records: [Start] = []
    /// What is taken of such an element when it begins, and when it ends.
    @exclusivity(unchecked) var atStart: [Capture] = []
    @exclusivity(unchecked) var atEnd: [Capture] = []
    /// Whether an element there needs any attention at all.
    @exclusivity(unchecked) var isIdle = true
    @exclusivity(unchecked) var count = 0
    /// Names of attributes that nothing took, with how many there were; only where a plan is to be shown.
    var ignoredAttributes: [String: Int] = [:]

    /// Attributes that the open element at a depth must have.
    struct Condition {
        let depth: Int
        let predicates: [XMLPath.Predicate]
    }

    /// Records of a table that begin with such an element.
    struct Start {
        let plan: RecordPlan
        let conditions: [Condition]
    }

    /// A value that a record, or the records below an element, take from an element.
    struct Capture {
        let record: RecordPlan
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
        self.parent = parent
    }

    /// The node of a child element that has been met before.
    @inline(__always)
    func child(_ name: Int32) -> PathNode? {
        for index in childNames.indices where childNames[index] == name { return children[index] }
        return nil
    }

    func add(_ child: PathNode, name: Int32) {
        children.append(child)
        childNames.append(name)
    }

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

    /// Whether an element there, or below it, is a record or gives a value.
    var isUsed: Bool {
        !records.isEmpty || !atStart.isEmpty || !atEnd.isEmpty || children.contains(where: \.isUsed)
    }
}
