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
    /// Whether it has been merged into another, and is no part of the document any more.
    private(set) var isMerged = false
    /// Local names that several children have, in different namespaces. Once nothing is added any more.
    lazy var twins: Set<String> = {
        var once: Set<String> = []
        return Set(children.map(\.name.local).filter { !once.insert($0).inserted })
    }()
    /// As a column is named after it: with its prefix only where a sibling has the same local name. Likewise.
    lazy var columnName = SQLName.snakeCase(hasTwin ? name.qualified : name.local)
    /// Attributes of one local name in different namespaces. Likewise.
    lazy var attributeTwins: Set<String> = {
        var once: Set<String> = []
        return Set(attributes.map(\.name.local).filter { !once.insert($0).inserted })
    }()

    /// The children by the number of their name in the document, and by what tells names apart.
    private var childrenByNumber: [Int32: ElementProfile] = [:]
    private var childrenByName: [Identity: ElementProfile] = [:]
    private var attributesByName: [Identity: Int] = [:]
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

    /// What tells names apart, whatever their prefixes.
    struct Identity: Hashable {
        let local: String
        let namespace: String?
    }

    /// The child of this name; nil before it is first met.
    ///
    /// - Parameter number: the name's among the names of the document.
    func child(_ name: XMLName, number: Int32) -> ElementProfile? {
        if let found = childrenByNumber[number] { return found }
        guard let found = child(name.identity) else { return nil }
        childrenByNumber[number] = found
        return found
    }

    func child(_ name: Identity) -> ElementProfile? { childrenByName[name] }

    func addChild(_ name: XMLName, number: Int32) -> ElementProfile {
        let child = ElementProfile(name: name, parent: self)
        adopt(child)
        childrenByNumber[number] = child
        return child
    }

    private func adopt(_ child: ElementProfile) {
        child.parent = self
        children.append(child)
        childrenByName[child.name.identity] = child
    }

    func removeChild(_ child: ElementProfile) {
        children.removeAll { $0 === child }
        childrenByName[child.name.identity] = nil
    }

    func hasAttribute(_ name: Identity) -> Bool { attributesByName[name] != nil }

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
        attributes[indexOfAttribute(name)].value.add(text, scope: parent?.count ?? 0)
    }

    private func indexOfAttribute(_ name: XMLName) -> Int {
        if let known = attributesByName[name.identity] { return known }
        attributes.append(AttributeProfile(name: name))
        attributesByName[name.identity] = attributes.count - 1
        return attributes.count - 1
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
        attributesByName = other.attributesByName
        for child in other.children { adopt(ElementProfile(copying: child, parent: self)) }
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
            if let index = attributesByName[attribute.name.identity] {
                attributes[index].value.merge(attribute.value)
            } else {
                attributesByName[attribute.name.identity] = attributes.count
                attributes.append(attribute)
            }
        }
        for child in other.children {
            if let known = self.child(child.name.identity) { known.merge(child) } else { adopt(child) }
        }
        other.isMerged = true
    }
}

extension XMLName {
    /// Whether both name the same thing, whatever their prefixes.
    func isSame(as other: XMLName) -> Bool { local == other.local && namespace == other.namespace }

    var identity: ElementProfile.Identity { .init(local: local, namespace: namespace) }
}
