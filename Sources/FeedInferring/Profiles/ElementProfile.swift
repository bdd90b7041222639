package import XMLStream

/// The observed elements at one path of a document.
///
/// Names are compared by local name and namespace: one namespace with two prefixes is one path.
package final class ElementProfile {
    package let name: XMLName
    // `unowned(unsafe)`: a parent holds its children, and this is read twice an element.
    @exclusivity(unchecked) package internal(set) unowned(unsafe) var parent: ElementProfile?
    /// The child elements, in the order of their first appearance.
    package internal(set) var children: [ElementProfile] = []
    package internal(set) var attributes: [AttributeProfile] = []
    // `@exclusivity(unchecked)`: one thread changes these, several times an element.
    /// The elements' own text.
    @exclusivity(unchecked) package internal(set) var text = ValueProfile()
    @exclusivity(unchecked) package internal(set) var count = 0
    /// The most of these elements in one parent.
    @exclusivity(unchecked) package internal(set) var maximum = 0
    /// The number of parents with at least one of these elements.
    @exclusivity(unchecked) package internal(set) var parents = 0
    /// True if elements of this name were found below one another, and are all profiled here.
    var isRecursive = false
    /// The schema's declaration of the elements; nil without one.
    var declaration: ElementDeclaration?
    /// The profile that this one has been merged into; nil if it has not.
    private(set) var merged: ElementProfile?
    /// The last copy of this profile.
    private var copy: ElementProfile?
    /// Names that several children have, in different namespaces. Read it only when the profile is complete.
    lazy var twins: Set<String> = {
        var once: Set<String> = []
        return Set(children.map(\.name.bare).filter { !once.insert($0).inserted })
    }()
    /// Element names that were made of several members' names. Read it only when the profile is complete.
    lazy var ambiguous: Set<String> = {
        var once: [String: String] = [:]
        return Set(
            children.map(\.name).filter { once.updateValue($0.bare, forKey: $0.local) ?? $0.bare != $0.bare }.map(
                \.local))
    }()
    /// The name for a column, with the prefix only where a sibling has the same local name. To be read when nothing is
    /// added any more.
    lazy var columnName = SQLName.snakeCase(hasTwin ? name.qualified : name.local)
    /// Local names that several attributes have, in different namespaces. To be read when nothing is added any more.
    lazy var attributeTwins: Set<String> = {
        var once: Set<String> = []
        return Set(attributes.map(\.name.local).filter { !once.insert($0).inserted })
    }()

    /// The children by the number of their name in the document, and by identity.
    @exclusivity(unchecked) private var childrenByNumber = NumberedObjects<ElementProfile>()
    private var childrenByName: [Identity: ElementProfile] = [:]
    private var attributesByName: [Identity: Int] = [:]
    @exclusivity(unchecked) private var instance = -1
    @exclusivity(unchecked) private var occurrences = 0
    @exclusivity(unchecked) private var instancesWithChildren = 0
    @exclusivity(unchecked) private var instancesWithProse = 0
    @exclusivity(unchecked) private var childrenNow = 0
    @exclusivity(unchecked) private var leadingLength = 0

    init(name: XMLName, parent: ElementProfile?) {
        self.name = name
        self.parent = parent
    }

    // MARK: - Profiling

    /// A name without its prefix, for comparison.
    struct Identity: Hashable {
        let local: String
        let namespace: String?
    }

    /// Returns the child whose name has this number in the document; nil if none has occurred yet.
    func child(number: Int32) -> ElementProfile? { childrenByNumber[number]?.takeUnretainedValue() }

    /// Returns the child of a name that has another number, such as one of another prefix; nil without one.
    func child(_ name: XMLName, number: Int32) -> ElementProfile? {
        guard let found = child(name.identity) else { return nil }
        childrenByNumber.add(found, number: number)
        return found
    }

    func child(_ name: Identity) -> ElementProfile? { childrenByName[name] }

    func addChild(_ name: XMLName, number: Int32) -> ElementProfile {
        let child = ElementProfile(name: name, parent: self)
        adopt(child)
        childrenByNumber.add(child, number: number)
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

    /// - Parameter text: the element's own text before the child, trimmed. Called before the first child only.
    func beginChild(after text: () -> UnsafeBufferPointer<UInt8>) {
        if childrenNow == 0 {
            instancesWithChildren += 1
            leadingLength = text().count
        }
        childrenNow += 1
    }

    /// - Parameter text: trimmed.
    /// - Returns: true for the first attribute of this name.
    func addAttribute(_ name: XMLName, _ text: UnsafeBufferPointer<UInt8>, _ budget: DigestSet.Budget) -> Bool {
        let known = attributesByName[name.identity]
        if known == nil { append(AttributeProfile(name: name)) }
        attributes[known ?? attributes.count - 1].value.add(text, scope: parent?.count ?? 0, budget)
        return known == nil
    }

    private func append(_ attribute: AttributeProfile) {
        attributesByName[attribute.name.identity] = attributes.count
        attributes.append(attribute)
    }

    /// - Parameters:
    ///   - text: the element's own, trimmed.
    ///   - isNumber: true for a number in the document's format.
    func end(_ text: UnsafeBufferPointer<UInt8>, isNumber: Bool, _ budget: DigestSet.Budget) {
        // An element with its own text is mostly a column of its parent: siblings have the same grandparent.
        self.text.add(text, scope: parent?.parent?.count ?? 0, isNumber: isNumber, budget)
        if childrenNow > 0, text.count > max(leadingLength, childrenNow * 4) { instancesWithProse += 1 }
    }

    // MARK: - Declarations

    /// Returns the child of this name, which a schema declares.
    func declareChild(_ name: XMLName) -> ElementProfile {
        instancesWithChildren = max(instancesWithChildren, 1)
        let child = ElementProfile(declared: name)
        adopt(child)
        return child
    }

    /// Creates the profile of an element that occurs once.
    convenience init(declared name: XMLName) {
        self.init(name: name, parent: nil)
        count = 1
        maximum = 1
        parents = 1
    }

    /// Adds the schema's declaration of an attribute.
    ///
    /// - Parameter adds: true to add an attribute that no document has.
    func declareAttribute(_ name: XMLName, _ value: DeclaredValue, adds: Bool) {
        if let index = attributesByName[name.identity] {
            attributes[index].value.declared = value
        } else if adds {
            append(AttributeProfile(name: name, value: ValueProfile(declared: value)))
        }
    }

    // MARK: - Classification

    /// The attributes that hold data.
    var data: [AttributeProfile] { attributes.filter(\.isData) }

    /// True if the elements' content is running text with markup, which columns would tear apart: in most elements
    /// with children, text of more than a stray word follows a child, or XHTML begins here.
    var isProse: Bool {
        if declaration?.isMarkup ?? false { return true }
        guard !children.isEmpty else { return false }
        if instancesWithProse * 2 > instancesWithChildren { return true }
        return children.contains { $0.name.namespace == Self.xhtml && Self.blocks.contains($0.name.local) }
    }

    /// True if no element at this path, or at those folded into it by recursion, has children.
    var isLeaf: Bool { instancesWithChildren == 0 }

    /// True if XHTML begins here, or text with markup according to a schema; both are kept.
    var holdsMarkup: Bool {
        declaration?.isMarkup ?? false || children.contains { $0.name.namespace == Self.xhtml }
    }

    private static let xhtml = "http://www.w3.org/1999/xhtml"
    private static let blocks: Set = [
        "html", "body", "div", "p", "span", "section", "article", "ul", "ol", "table", "pre", "blockquote",
    ]

    // MARK: - Copies

    /// Creates a copy of this element and all below it, with the same counts.
    init(copying other: ElementProfile, parent: ElementProfile?) {
        name = other.name
        self.parent = parent
        declaration = other.declaration
        attributes = other.attributes
        text = other.text
        count = other.count
        maximum = other.maximum
        parents = other.parents
        instancesWithChildren = other.instancesWithChildren
        instancesWithProse = other.instancesWithProse
        attributesByName = other.attributesByName
        for child in other.children { adopt(ElementProfile(copying: child, parent: self)) }
        other.copy = self
    }

    /// The profile in place of this one in the last copy of the document.
    var surviving: ElementProfile {
        var found = copy ?? self
        while let next = found.merged { found = next }
        return found
    }

    /// Adds the figures of another path's profile, children included.
    func merge(_ other: ElementProfile) {
        defer { other.merged = self }
        // Of a further level in a schema nothing else is known.
        guard !(other.declaration?.isLevel ?? false) else { return maximum = max(maximum, other.maximum) }
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
                append(attribute)
            }
        }
        for child in other.children {
            if let known = self.child(child.name.identity) { known.merge(child) } else { adopt(child) }
        }
    }
}

extension ElementProfile {
    /// Returns a copy in which elements below elements of the same name (outlines in outlines, categories in
    /// categories) are profiled in one place, so that one table with a suffix path loads every level.
    ///
    /// Elements of one name count as levels of one thing where they share an attribute or a child, or have only text.
    /// `Cube` in `Cube` of the European Central Bank shares nothing. All must lie below the topmost of them and occur
    /// nowhere else, because a suffix path would find them there, too.
    ///
    /// Folding one group may bring together another. So names are checked until no group is found, or for ``passes``
    /// passes: a document that needs more was made for it.
    func foldingRecursion() -> ElementProfile {
        let copy = ElementProfile(copying: self, parent: nil)
        for _ in 0..<Self.passes {
            guard copy.foldGroups() else { break }
        }
        return copy
    }

    private static let passes = 20

    /// Folds each group of elements of one name. Names are taken in the order of the document.
    ///
    /// - Returns: true if a group was folded.
    private func foldGroups() -> Bool {
        var names: [String] = []
        // An element comes before those below it. This stays so, because folding moves elements only towards the root.
        var places: [String: [ElementProfile]] = [:]
        visit { element in
            if places[element.name.bare] == nil { names.append(element.name.bare) }
            places[element.name.bare, default: []].append(element)
        }
        var hasFolded = false
        for name in names {
            guard let found = places[name], found.count > 1 else { continue }
            let group = found.filter { $0.merged == nil }
            guard group.count > 1, let top = group.first,
                group.contains(where: { $0.maximum > 1 || $0.isFurtherLevel })
            else { continue }
            let levels = group.dropFirst()
            let isOpen = !top.isProse || top.children.allSatisfy { $0.name.isSame(as: top.name) }
            guard isOpen, levels.allSatisfy({ $0.isLevel(of: top) }) else { continue }
            for level in levels { level.parent?.removeChild(level) }
            for level in levels { top.merge(level) }
            top.isRecursive = true
            hasFolded = true
        }
        return hasFolded
    }

    private func isLevel(of top: ElementProfile) -> Bool {
        name.isSame(as: top.name) && sharesShape(with: top)
            && sequence(first: self, next: \.parent).dropFirst().contains { $0 === top }
    }

    /// True if a schema declares it as a level of the enclosing element.
    private var isFurtherLevel: Bool { declaration?.isLevel ?? false }

    private func sharesShape(with top: ElementProfile) -> Bool {
        if isFurtherLevel { return true }
        let attributes = data
        if attributes.contains(where: { top.hasAttribute($0.name.identity) }) { return true }
        if children.contains(where: { !$0.name.isSame(as: name) && top.child($0.name.identity) != nil }) { return true }
        return attributes.isEmpty && text.filled > 0 && top.text.filled > 0 && top.data.isEmpty
    }

    /// Calls `body` with this element and everything below it, parents first.
    func visit(_ body: (ElementProfile) -> Void) {
        body(self)
        for child in children { child.visit(body) }
    }
}
