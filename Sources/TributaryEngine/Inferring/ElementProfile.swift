package import XMLStream

/// What was seen of the elements at one path of a document.
///
/// Names are told apart by local name and namespace: one namespace under two prefixes is one path.
package final class ElementProfile {
    package let name: XMLName
    package internal(set) unowned var parent: ElementProfile?
    /// In the order of their first appearance.
    package internal(set) var children: [ElementProfile] = []
    package internal(set) var attributes: [AttributeProfile] = []
    /// The elements' own text.
    package internal(set) var text = ValueProfile()
    package internal(set) var count = 0
    /// The most of them in one parent.
    package internal(set) var maximum = 0
    /// Parents that have at least one of them.
    package internal(set) var parents = 0
    /// Whether elements of this name were met below one another, and are all profiled here.
    var isRecursive = false

    /// Local names that several children have. Asked for when the document has been read.
    private(set) lazy var twinNames = Set(
        Dictionary(grouping: children, by: \.name.local).filter { $0.value.count > 1 }.keys)

    private var byQualifiedName: [String: ElementProfile] = [:]
    private var instance = -1
    private var occurrences = 0
    private var instancesWithChildren = 0
    private var instancesWithProse = 0
    private var childrenNow = 0
    private var leadingLength = 0

    init(name: XMLName, parent: ElementProfile?) {
        self.name = name
        self.parent = parent
    }

    // MARK: - Profiling

    /// The child of this name; nil before it is first met.
    func child(_ name: XMLName) -> ElementProfile? {
        if let found = byQualifiedName[name.qualified], found.name.namespace == name.namespace { return found }
        return children.first { $0.name.isSame(as: name) }
    }

    func addChild(_ name: XMLName) -> ElementProfile {
        let child = ElementProfile(name: name, parent: self)
        children.append(child)
        byQualifiedName[name.qualified] = child
        return child
    }

    func begin() {
        count += 1
        childrenNow = 0
        guard let parent else { return maximum = 1 }
        if parent.count != instance {
            instance = parent.count
            occurrences = 0
            parents += 1
        }
        occurrences += 1
        maximum = max(maximum, occurrences)
    }

    /// - Parameter text: what it has of its own before the child, trimmed; asked for before the first one only.
    func beginChild(after text: () -> UnsafeBufferPointer<UInt8>) {
        if childrenNow == 0 {
            instancesWithChildren += 1
            leadingLength = text().count
        }
        childrenNow += 1
    }

    /// - Parameter text: trimmed.
    func addAttribute(_ name: XMLName, _ text: UnsafeBufferPointer<UInt8>) {
        let known = attributes.firstIndex { $0.name.isSame(as: name) }
        if known == nil { attributes.append(AttributeProfile(name: name)) }
        attributes[known ?? attributes.count - 1].value.add(text, scope: parent?.count ?? 0)
    }

    /// - Parameter text: the element's own, trimmed.
    func end(_ text: UnsafeBufferPointer<UInt8>) {
        // An element with a text of its own is mostly a column of its parent: siblings have the same grandparent.
        self.text.add(text, scope: parent?.parent?.count ?? 0)
        if childrenNow > 0, text.count > max(leadingLength, childrenNow * 4) { instancesWithProse += 1 }
    }

    // MARK: - What it is

    /// The attributes that hold data.
    var data: [AttributeProfile] { attributes.filter(\.isData) }

    /// Whether the elements' content is running text with markup in it, which columns would tear apart: mostly there is
    /// text after a child, and more than a stray word, or XHTML begins here.
    var isProse: Bool {
        guard !children.isEmpty else { return false }
        if instancesWithProse * 2 > instancesWithChildren { return true }
        return children.contains { $0.name.namespace == Self.xhtml && Self.blocks.contains($0.name.local) }
    }

    /// Whether there are no elements in it, at this path or at those that recursion folded into others.
    var isLeaf: Bool { instancesWithChildren == 0 }

    /// Whether XHTML begins here, whose markup is worth keeping.
    var holdsXHTML: Bool { children.contains { $0.name.namespace == Self.xhtml } }

    private static let xhtml = "http://www.w3.org/1999/xhtml"
    private static let blocks: Set = [
        "html", "body", "div", "p", "span", "section", "article", "ul", "ol", "table", "pre", "blockquote",
    ]

    // MARK: - Copies

    /// A copy of this element and everything below it, with the same figures.
    init(copying other: ElementProfile, parent: ElementProfile?) {
        name = other.name
        self.parent = parent
        attributes = other.attributes
        text = other.text
        count = other.count
        maximum = other.maximum
        parents = other.parents
        instancesWithChildren = other.instancesWithChildren
        instancesWithProse = other.instancesWithProse
        children = other.children.map { ElementProfile(copying: $0, parent: self) }
    }

    /// Adds what was seen at another path, children included.
    func merge(_ other: ElementProfile) {
        count += other.count
        maximum = max(maximum, other.maximum)
        parents += other.parents
        instancesWithChildren += other.instancesWithChildren
        instancesWithProse += other.instancesWithProse
        text.merge(other.text)
        for attribute in other.attributes {
            if let index = attributes.firstIndex(where: { $0.name.isSame(as: attribute.name) }) {
                attributes[index].value.merge(attribute.value)
            } else {
                attributes.append(attribute)
            }
        }
        for child in other.children {
            if let known = children.first(where: { $0.name.isSame(as: child.name) }) {
                known.merge(child)
            } else {
                child.parent = self
                children.append(child)
            }
        }
    }
}

extension XMLName {
    /// Whether both name the same thing, whatever their prefixes.
    func isSame(as other: XMLName) -> Bool { local == other.local && namespace == other.namespace }
}
