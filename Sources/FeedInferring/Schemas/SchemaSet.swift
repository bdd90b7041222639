/// The documents of an XML Schema, and their global declarations by name.
package final class SchemaSet {
    private(set) var types: [SchemaName: SchemaNode] = [:]
    private(set) var elements: [SchemaName: SchemaNode] = [:]
    private(set) var attributes: [SchemaName: SchemaNode] = [:]
    private(set) var groups: [SchemaName: SchemaNode] = [:]
    private(set) var attributeGroups: [SchemaName: SchemaNode] = [:]
    /// The elements that name another as the head of their substitution group.
    private(set) var members: [SchemaName: [SchemaNode]] = [:]
    /// The types that are derived from another, by its name.
    private(set) var derived: [SchemaName: [SchemaNode]] = [:]
    /// What could not be read or is left out, as sentences for the proposal's head.
    package internal(set) var notes: [String] = []

    /// The address of the schema, as it was given.
    package let location: String
    private var documents: [SchemaDocument] = []
    private var replacements: [SchemaNode] = []

    package init(location: String) { self.location = location }

    package func add(_ document: SchemaDocument) {
        documents.append(document)
        for node in document.root?.children ?? [] {
            switch node.kind {
            case "redefine", "override": replacements += node.children
            default: declare(node) { known, _ in known }
            }
        }
    }

    /// Notes that a document which a schema imports was not read.
    package func skip(_ location: String, because reason: String) {
        note("\(location) was not read: \(reason). What it declares is taken as text or markup.")
    }

    func note(_ sentence: String) {
        if notes.count < Self.mostNotes, !notes.contains(sentence) { notes.append(sentence) }
    }

    private static let mostNotes = 12

    /// Replaces redefined definitions. Call it once all documents are loaded.
    package func complete() {
        for node in replacements {
            declare(node) { known, new in
                new.redefined = known
                return new
            }
        }
        replacements = []
        var orphans: [String] = []
        for node in elements.values {
            for head in node.references("substitutionGroup") {
                members[head, default: []].append(node)
                if elements[head] == nil { orphans.append("<\(node["name"] ?? "")> of <\(head.local)>") }
            }
        }
        noteOrphans(orphans.sorted())
        for node in types.values {
            let derivation = node.child("complexContent") ?? node.child("simpleContent")
            let base = (derivation?.child("extension") ?? derivation?.child("restriction"))?.reference("base")
            if let base, base != node.name { derived[base, default: []].append(node) }
        }
        // In an order that does not change from one reading to the next.
        for head in members.keys { members[head]?.sort { $0["name"] ?? "" < $1["name"] ?? "" } }
        for base in derived.keys { derived[base]?.sort { $0["name"] ?? "" < $1["name"] ?? "" } }
    }

    /// Notes the elements of substitution groups whose head is not declared.
    private func noteOrphans(_ orphans: [String]) {
        var list = PathList()
        for orphan in orphans { list.append(orphan) }
        for line in list.line(
            "Left out unless the schema refers to them elsewhere, because no document declares the head of their "
                + "substitution group:")
        { note(line) }
    }

    private func declare(_ node: SchemaNode, _ choose: (_ known: SchemaNode, _ new: SchemaNode) -> SchemaNode) {
        guard let name = node.name else { return }
        func put(_ table: inout [SchemaName: SchemaNode]) {
            table[name] = table[name].map { choose($0, node) } ?? node
        }
        switch node.kind {
        case "complexType", "simpleType": put(&types)
        case "element": put(&elements)
        case "attribute": put(&attributes)
        case "group": put(&groups)
        case "attributeGroup": put(&attributeGroups)
        default: break
        }
    }

    /// Returns the elements that may stand where one is referred to: itself, and those of its substitution group.
    func substitutes(for head: SchemaName) -> [SchemaNode] {
        var found: [SchemaNode] = []
        var known: Set = [head]
        var heads = [head]
        while let next = heads.popLast() {
            if let node = elements[next], !node.isTrue("abstract") { found.append(node) }
            for member in (members[next] ?? []).compactMap(\.name) where known.insert(member).inserted {
                heads.append(member)
            }
        }
        return found
    }

    // MARK: - The root

    /// Returns the element that is the root of documents.
    ///
    /// - Parameter name: its local name; nil for the only global element that no other one refers to.
    /// - Throws: ``InferenceError`` if there is none, or several.
    func root(_ name: String?) throws(InferenceError) -> SchemaNode {
        let own = documents.first?.root?.children.filter { $0.kind == "element" } ?? []
        let declared = (own.isEmpty ? elements.values.sorted { $0["name"] ?? "" < $1["name"] ?? "" } : own)
            .filter { !$0.isTrue("abstract") }
        if let name {
            let local = name.split(separator: ":").last.map(String.init) ?? name
            let all = declared + elements.values.filter { !$0.isTrue("abstract") }
            if let found = all.first(where: { $0["name"] == local }) { return found }
            throw InferenceError(
                description: "the schema declares no element '\(name)'; it declares \(Self.list(declared))")
        }
        guard !declared.isEmpty else {
            throw InferenceError(
                description:
                    "the schema declares no element, only types; name the schema that declares the root element")
        }
        let referred = self.referred
        let found = declared.filter { element in
            element.name.map { !referred.contains($0) } ?? false && element["substitutionGroup"] == nil
        }
        if found.count == 1 { return found[0] }
        throw InferenceError(
            description: "the schema has \((found.isEmpty ? declared : found).count) elements that may be the root: "
                + "\(Self.list(found.isEmpty ? declared : found)); name one with --root, or give a document")
    }

    private static func list(_ nodes: [SchemaNode]) -> String {
        let names = nodes.prefix(10).compactMap { $0["name"] }
        return names.joined(separator: ", ") + (nodes.count > names.count ? ", …" : "")
    }

    /// The elements that others refer to.
    private var referred: Set<SchemaName> {
        var found: Set<SchemaName> = []
        var rest = documents.compactMap(\.root)
        while let node = rest.popLast() {
            if node.kind == "element", let name = node.reference("ref") { found.insert(name) }
            rest += node.children
        }
        return found
    }
}
