import XMLStream

/// Resolves the content of a schema's types through extensions, restrictions, groups, choices and references.
///
/// Groups and types that refer to one another in a circle end, and ``mostSteps`` bounds the cost of a hostile schema.
final class SchemaContents {
    private let set: SchemaSet
    private let simple: SchemaSimpleTypes
    private var known: [ObjectIdentifier: SchemaContent] = [:]
    private var knownTypes: [ObjectIdentifier: SchemaType] = [:]
    private var knownGroups: [ObjectIdentifier: SchemaContent] = [:]
    private var steps = 0
    private var depth = 0

    init(_ set: SchemaSet) {
        self.set = set
        simple = SchemaSimpleTypes(set: set)
    }

    /// The most declarations looked at. The schemas of whole industries need some hundred thousand.
    static let mostSteps = 5_000_000
    private static let mostDepth = 400

    func count(_ number: Int = 1) throws {
        steps += number
        guard steps <= Self.mostSteps else {
            throw InferenceError(
                description: "the schema's types and groups refer to one another more than "
                    + "\(Self.mostSteps.grouped) times; give a document, or begin with --root further down")
        }
    }

    // MARK: - Elements

    /// Returns the declaration that an element of a model refers to.
    func declaration(of node: SchemaNode) -> SchemaNode? {
        guard let name = node.reference("ref") else { return node }
        return set.elements[name]
    }

    /// Returns the type of an element that is declared. Without a type it has that of its substitution group's head.
    func type(of element: SchemaNode) -> SchemaType {
        guard var next = declaration(of: element) else { return .any }
        var heads: Set<ObjectIdentifier> = []
        var found: SchemaType?
        while found == nil, heads.insert(ObjectIdentifier(next)).inserted {
            found = knownTypes[ObjectIdentifier(next)] ?? ownType(of: next)
            guard found == nil, let head = next.references("substitutionGroup").first.flatMap({ set.elements[$0] })
            else { break }
            next = head
        }
        for head in heads { knownTypes[head] = found ?? .any }
        return found ?? .any
    }

    /// The type that a declaration itself gives; nil where it gives none.
    private func ownType(of element: SchemaNode) -> SchemaType? {
        if let node = element.child("complexType") { return .complex(node) }
        if let node = element.child("simpleType") { return .simple(simple.value(of: node)) }
        return element.reference("type").map { type($0, of: element) }
    }

    private func type(_ name: SchemaName, of element: SchemaNode) -> SchemaType {
        if name.isBuiltIn { return name.local == "anyType" ? .any : .simple(simple.value(of: name)) }
        guard let node = set.types[name] else {
            set.note("The type \(name.local) of <\(element["name"] ?? "")> is not declared in the documents read.")
            return .any
        }
        return node.kind == "complexType" ? .complex(node) : .simple(simple.value(of: node))
    }

    /// Returns the content of an element. For an abstract type, it is the content of all types derived from it.
    func content(of type: SchemaType) throws -> SchemaContent {
        var content = SchemaContent()
        switch type {
        case .any: content.isAny = true
        case .simple(let value): content.value = value
        case .complex(let node):
            content = try self.content(of: node)
            guard node.isTrue("abstract"), let name = node.name else { break }
            var bases = [name]
            var found: Set = [name]
            while let base = bases.popLast() {
                for derived in set.derived[base] ?? [] {
                    guard let name = derived.name, found.insert(name).inserted else { continue }
                    bases.append(name)
                    let more = try self.content(of: derived)
                    try count(more.children.count + more.attributes.count)
                    content.add(more, isAlternative: true, isRequired: false, repeats: false)
                    content.value = content.value ?? more.value
                    for var attribute in more.attributes {
                        attribute.value.isRequired = false
                        content.add(attribute)
                    }
                }
            }
        }
        return content
    }

    // MARK: - Complex types

    private func content(of type: SchemaNode) throws -> SchemaContent {
        if let found = known[ObjectIdentifier(type)] { return found }
        var content = SchemaContent()
        var levels: [SchemaContent] = []
        var facets: [SchemaNode] = []
        var visited: Set<ObjectIdentifier> = []
        var next: SchemaNode? = type
        var takesChildren = true
        while let node = next, visited.insert(ObjectIdentifier(node)).inserted {
            try count()
            next = nil
            let wrapper = node.child("complexContent") ?? node.child("simpleContent")
            let derivation = wrapper?.child("extension") ?? wrapper?.child("restriction")
            let body = derivation ?? node
            if node.isTrue("mixed") || wrapper?.isTrue("mixed") ?? false { content.isMixed = true }
            try addAttributes(of: body, to: &content)
            if wrapper?.kind == "simpleContent" {
                if body.kind == "restriction" { facets.append(body) }
            } else if takesChildren {
                levels.append(try part(body))
            }
            guard derivation != nil, let base = body.reference("base") else { break }
            // A restriction repeats what it keeps of the elements, and only changes attributes.
            if wrapper?.kind == "complexContent", body.kind == "restriction" { takesChildren = false }
            let former = base == node.name ? node.redefined : nil
            if let definition = former ?? set.types[base], definition.kind == "complexType" {
                next = definition
            } else if wrapper?.kind == "simpleContent" {
                content.value = simple.value(of: base)
            }
        }
        for level in levels.reversed() {
            content.add(level, isAlternative: false, isRequired: true, repeats: false)
            try count(level.children.count)
        }
        if var value = content.value {
            for restriction in facets.reversed() { SchemaSimpleTypes.restrict(&value, by: restriction) }
            content.value = value
        }
        known[ObjectIdentifier(type)] = content
        return content
    }

    /// Returns the content of the parts of a model: a type, a sequence, a choice or a group.
    private func part(_ node: SchemaNode) throws -> SchemaContent {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.mostDepth else {
            throw InferenceError(
                description: "the schema's groups lie within one another more than \(Self.mostDepth) deep")
        }
        var content = SchemaContent()
        let isChoice = node.kind == "choice"
        var alternatives = 0
        for child in node.children {
            try count()
            var found = SchemaContent()
            switch child.kind {
            case "element":
                for (name, element) in occurrences(of: child) {
                    found.addAlternative(.init(element: element, name: name, isRequired: true, repeats: false))
                }
                if found.children.count > 1 {
                    let all = found
                    found = SchemaContent()
                    found.add(all, isAlternative: true, isRequired: false, repeats: false)
                }
            case "sequence", "choice", "all": found = try part(child)
            case "group": found = try group(child)
            case "any": found.hasWildcard = true
            default: continue
            }
            alternatives += 1
            try count(found.children.count)
            content.add(found, isAlternative: isChoice, isRequired: child.isRequired, repeats: child.repeats)
        }
        guard isChoice, alternatives > 1 else { return content }
        var choice = SchemaContent()
        choice.add(content, isAlternative: true, isRequired: false, repeats: false)
        return choice
    }

    private func occurrences(of node: SchemaNode) -> [(SchemaName, SchemaNode)] {
        if let head = node.reference("ref") {
            let found = set.substitutes(for: head).compactMap { element in element.name.map { ($0, element) } }
            if !found.isEmpty || set.elements[head] != nil { return found }
            set.note("The element \(head.local) is not declared in the documents read.")
            return [(head, node)]
        }
        return node.localName("elementFormDefault").map { [($0, node)] } ?? []
    }

    private func group(_ node: SchemaNode) throws -> SchemaContent {
        guard let name = node.reference("ref") else { return SchemaContent() }
        guard let found = set.groups[name] else {
            set.note("The group \(name.local) is not declared in the documents read.")
            return SchemaContent()
        }
        let definition = found.redefined.map { isWithin(node, found) ? $0 : found } ?? found
        let identity = ObjectIdentifier(definition)
        if let known = knownGroups[identity] { return known }
        // A group within itself adds nothing.
        knownGroups[identity] = SchemaContent()
        let content = try part(definition)
        knownGroups[identity] = content
        return content
    }

    /// True if a node is part of a definition.
    private func isWithin(_ node: SchemaNode, _ definition: SchemaNode) -> Bool {
        var rest = [definition]
        while let next = rest.popLast() {
            if next === node { return true }
            rest += next.children
        }
        return false
    }
}

extension SchemaContents {
    /// Adds the attributes of a type or an extension that are not there yet.
    private func addAttributes(of node: SchemaNode, to content: inout SchemaContent) throws {
        var groups: Set<ObjectIdentifier> = []
        var rest = [node]
        while let next = rest.popLast() {
            for child in next.children {
                try count()
                switch child.kind {
                case "attribute":
                    if let attribute = attribute(child) { content.add(attribute) }
                case "attributeGroup":
                    guard let group = child.reference("ref").flatMap({ set.attributeGroups[$0] }) else { continue }
                    for definition in [group, group.redefined].compactMap(\.self)
                    where groups.insert(ObjectIdentifier(definition)).inserted {
                        rest.append(definition)
                    }
                default: continue
                }
            }
        }
    }

    private func attribute(_ node: SchemaNode) -> SchemaContent.Attribute? {
        guard node["use"] != "prohibited" else { return nil }
        let referred = node.reference("ref")
        let declaration = referred.flatMap { set.attributes[$0] } ?? node
        guard let name = referred ?? node.localName("attributeFormDefault") else { return nil }
        var value =
            declaration.child("simpleType").map { simple.value(of: $0) }
            ?? simple.value(of: declaration.reference("type"))
        value.isRequired = node["use"] == "required"
        value.fallback = node["default"] ?? node["fixed"] ?? declaration["default"] ?? declaration["fixed"]
        value.documentation = node.documentation ?? declaration.documentation
        return .init(name: name, value: value)
    }
}
