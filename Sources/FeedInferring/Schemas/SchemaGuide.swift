import XMLStream

/// Adds a schema's declarations to the elements of a document, or to all elements that the schema allows.
///
/// Without a document, it makes the profile of a document that has everything. Elements are taken level by level, so
/// that those near the root come first. Content beyond the limits (``mostPaths`` in all, ``mostValues`` in one
/// record), and an element within another of its type, is kept as markup.
final class SchemaGuide {
    /// An element of the profile, and its declaration.
    private struct Place {
        let profile: ElementProfile
        let element: SchemaNode
        /// The types of the elements around it.
        let outer: OpenType?
    }

    private final class OpenType {
        let type: ObjectIdentifier
        let name: SchemaName
        let outer: OpenType?

        init(_ type: ObjectIdentifier, _ name: SchemaName, _ outer: OpenType?) {
            self.type = type
            self.name = name
            self.outer = outer
        }

        /// Returns the innermost element around that has a type.
        func enclosing(_ type: ObjectIdentifier) -> OpenType? {
            sequence(first: self, next: \.outer).first { $0.type == type }
        }
    }

    static let mostPaths = 5_000
    /// A table of PostgreSQL has at most 1,600 columns.
    static let mostValues = 1_000

    private let set: SchemaSet
    private let contents: SchemaContents
    /// True if elements that no document has are added.
    private var adds = false
    private var paths = 0
    /// The paths in each record, by the element that repeats.
    private var pathsOfRecords: [ObjectIdentifier: Int] = [:]
    private var queue: [Place] = []
    private var rootNamespace: String?
    private var absent = PathList()

    init(_ set: SchemaSet) {
        self.set = set
        contents = SchemaContents(set)
    }

    /// Returns the profile of a document with everything that the schema allows.
    ///
    /// - Parameter name: the local name of the root element; nil for the only one possible.
    /// - Throws: ``InferenceError``.
    func profile(root name: String?) throws -> ElementProfile {
        let element = try set.root(name)
        guard let name = element.name else { throw InferenceError(description: "the root element has no name") }
        let root = ElementProfile(
            declared: XMLName(qualified: name.local, local: name.local, namespace: name.namespace))
        adds = true
        try describe(root, element)
        return root
    }

    /// Adds the schema's declarations to the profile of a document.
    ///
    /// - Throws: ``InferenceError`` if the schema does not declare the document's root.
    func describe(_ root: ElementProfile) throws {
        guard let element = set.elements[root.name.identity] else {
            throw InferenceError(
                description: "the document's root <\(root.name.qualified)>"
                    + (root.name.namespace.map { " of the namespace \($0)" } ?? " of no namespace")
                    + " is not declared in the schema")
        }
        try describe(root, element)
    }

    /// A line on the declared elements and attributes that the document lacks.
    var leftOut: [String] {
        absent.line(
            "In the schema and not in the document, so left out (`infer --xsd` without a document proposes all):")
    }

    private func describe(_ root: ElementProfile, _ element: SchemaNode) throws {
        queue = [Place(profile: root, element: element, outer: nil)]
        rootNamespace = root.name.namespace
        var next = 0
        while next < queue.count {
            try describe(queue[next])
            next += 1
            // What has been looked at is let go of now and then.
            if next == 10_000 {
                queue.removeFirst(next)
                next = 0
            }
        }
    }

    private func describe(_ place: Place) throws {
        let profile = place.profile
        let type = contents.type(of: place.element)
        let declared = contents.declaration(of: place.element) ?? place.element
        let content = try contents.content(of: type)
        var declaration = profile.declaration ?? ElementDeclaration()
        declaration.constraints = declared.children.compactMap(\.constraint)
        var value = content.value ?? DeclaredValue()
        value.isRequired = !declared.isTrue("nillable")
        value.documentation = place.element.documentation ?? declared.documentation ?? documentation(of: type)
        defer { profile.declaration = declaration }

        var outer = place.outer
        if adds, case .complex(let node) = type {
            let identity = ObjectIdentifier(node)
            if let same = outer?.enclosing(identity) {
                declaration.isMarkup = true
                declaration.isCut = true
                declaration.isLevel = same.name == profile.name.identity
                return
            }
            outer = OpenType(identity, profile.name.identity, outer)
        }
        if isMarkup(content, profile) {
            declaration.isMarkup = true
            profile.text.declared = value
        } else if content.value != nil {
            if adds { profile.text = ValueProfile(declared: value) } else { profile.text.declared = value }
        }
        if adds, !declaration.isMarkup, try !take(content, in: profile) {
            declaration.isMarkup = true
            declaration.isCut = true
            return
        }
        for attribute in content.attributes {
            let name = name(attribute.name, in: place.element)
            profile.declareAttribute(name, attribute.value, adds: adds)
            if !profile.hasAttribute(name.identity) { absent.append("\(profile.localPath)/@\(name.local)") }
        }
        guard !declaration.isMarkup else { return }
        declaration.isOpen = adds && content.hasWildcard
        for child in content.children {
            let name = name(child.name, in: place.element)
            guard let found = profile.child(name.identity) ?? (adds ? profile.declareChild(name) : nil) else {
                absent.append("\(profile.localPath)/\(name.local)")
                continue
            }
            if child.repeats { found.maximum = max(found.maximum, 2) }
            found.declaration = ElementDeclaration(isRequired: child.isRequired)
            queue.append(Place(profile: found, element: child.element, outer: outer))
        }
    }

    private func documentation(of type: SchemaType) -> String? {
        if case .complex(let node) = type { node.documentation } else { nil }
    }

    /// True if the content is text with markup, or anything.
    private func isMarkup(_ content: SchemaContent, _ profile: ElementProfile) -> Bool {
        guard adds else { return content.isMixed && profile.isProse }
        if content.isAny || content.hasWildcard && content.children.isEmpty { return true }
        return content.isMixed && !content.children.isEmpty && profile.parent != nil
            && content.children.allSatisfy { isInline($0.element) }
    }

    /// True for an element that may be part of running text.
    private func isInline(_ element: SchemaNode) -> Bool {
        switch contents.type(of: element) {
        case .simple, .any: true
        case .complex(let node): node.isTrue("mixed") || node.child("simpleContent") != nil
        }
    }

    /// Counts the paths of an element's content, with the attributes of texts in it; false if there would be too
    /// many.
    private func take(_ content: SchemaContent, in profile: ElementProfile) throws -> Bool {
        guard !content.children.isEmpty else { return true }
        let record = sequence(first: profile, next: \.parent).first { $0.maximum > 1 || $0.parent == nil } ?? profile
        var number = content.children.count + content.attributes.count
        for child in content.children {
            let below = try contents.content(of: contents.type(of: child.element))
            if below.children.isEmpty { number += below.attributes.count }
        }
        guard profile.parent == nil || paths + number <= Self.mostPaths,
            profile === record || pathsOfRecords[ObjectIdentifier(record), default: 0] + number <= Self.mostValues
        else { return false }
        paths += number
        pathsOfRecords[ObjectIdentifier(record), default: 0] += number
        return true
    }

    /// Returns a name with the prefix of its namespace in the schema, if that is not the root's namespace.
    private func name(_ name: SchemaName, in node: SchemaNode) -> XMLName {
        let prefix = name.namespace.flatMap { node.prefix(of: $0) }
        let qualified =
            prefix.map { name.namespace == rootNamespace ? name.local : "\($0):\(name.local)" } ?? name.local
        return XMLName(qualified: qualified, local: name.local, namespace: name.namespace)
    }
}

extension ElementProfile {
    /// The local names from the root to the element.
    fileprivate var localPath: String {
        sequence(first: self, next: \.parent).map(\.name.local).reversed().joined(separator: "/")
    }
}
