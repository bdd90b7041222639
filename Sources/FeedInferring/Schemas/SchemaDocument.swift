package import XMLStream

/// One document of an XML Schema, kept while an ``XMLStreamParser`` reads it.
package final class SchemaDocument: XMLStreamHandler {
    /// Another document that this one names.
    package struct Reference: Sendable, Hashable {
        package var location: String
        /// The target namespace that the other one takes over where it has none: of `include`, `redefine` and `override`.
        package var adopter: String?
        /// False for `import`: its declarations are in another namespace.
        package var isPart: Bool
    }

    /// The namespace of its declarations; nil for none.
    private(set) var namespace: String?
    /// True if it has no target namespace of its own, but that of the document that includes it.
    private(set) var isAdopted = false
    private(set) var root: SchemaNode?
    private(set) package var references: [Reference] = []

    private let adopter: String?
    private var open: [(node: SchemaNode, namespaces: NamespaceScope)] = []
    /// The number of open elements that are not part of the schema, such as markup in its documentation.
    private var foreign = 0

    /// - Parameter adopter: the target namespace of the document that includes it; nil if none does.
    package init(adopter: String? = nil) {
        self.adopter = adopter
        super.init()
    }

    package override func didStartElement(in stream: XMLStreamParser) throws {
        guard foreign == 0, stream.namespace == SchemaName.schemaNamespace, stream.localName != "appinfo" else {
            guard root != nil else {
                throw InferenceError(
                    description: "the root element is <\(stream.qualifiedName)>, not <schema> of XML Schema "
                        + "(\(SchemaName.schemaNamespace))")
            }
            return foreign += 1
        }
        var attributes: [String: String] = [:]
        for (name, value) in stream.attributesOfElement.all where name.namespace == nil {
            attributes[name.local] = String(value.trimmingPrefix(while: \.isWhitespace))
        }
        var namespaces = open.last?.namespaces ?? NamespaceScope([], in: nil)
        let declared = stream.declaredNamespaces
        if !declared.isEmpty { namespaces = NamespaceScope(declared, in: namespaces) }
        let node = SchemaNode(kind: stream.localName, attributes: attributes, document: self, namespaces: namespaces)
        if let parent = open.last?.node {
            parent.children.append(node)
        } else {
            try begin(node)
        }
        open.append((node, namespaces))
        refer(node)
    }

    private func begin(_ node: SchemaNode) throws {
        guard node.kind == "schema" else {
            throw InferenceError(description: "the root element is <\(node.kind)>, not <schema>")
        }
        root = node
        namespace = node["targetNamespace"] ?? adopter
        isAdopted = node["targetNamespace"] == nil && adopter != nil
    }

    private func refer(_ node: SchemaNode) {
        guard open.count == 2, let location = node["schemaLocation"] else { return }
        switch node.kind {
        case "include", "redefine", "override":
            references.append(Reference(location: location, adopter: namespace, isPart: true))
        // What this namespace has is built in.
        case "import" where node["namespace"] != SchemaName.xmlNamespace:
            references.append(Reference(location: location, adopter: nil, isPart: false))
        default: break
        }
    }

    package override func didEndElement(in stream: XMLStreamParser) throws {
        guard foreign == 0 else { return foreign -= 1 }
        let node = open.removeLast().node
        guard node.kind == "documentation", open.count > 1 else { return }
        let text = String(decoding: stream.textBytes.prefix(Self.longestDocumentation), as: UTF8.self)
        let line = text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let declared = open[open.count - 2].node
        if declared.documentation == nil, !line.isEmpty { declared.documentation = line }
    }

    private static let longestDocumentation = 1_000
}

/// The namespaces in force at an element. Elements that declare none share those of their parent.
final class NamespaceScope {
    private let outer: NamespaceScope?
    private let declared: [String: String]

    init(_ declared: [(prefix: String, namespace: String)], in outer: NamespaceScope?) {
        self.outer = outer
        self.declared = Dictionary(declared.map { ($0.prefix, $0.namespace) }) { first, _ in first }
    }

    func namespace(of prefix: String) -> String? {
        if prefix == "xml" { return SchemaName.xmlNamespace }
        let found = sequence(first: self, next: \.outer).lazy.compactMap { $0.declared[prefix] }.first
        return found == "" ? nil : found
    }

    /// Returns a prefix of a namespace; nil if it has none here.
    func prefix(of namespace: String) -> String? {
        sequence(first: self, next: \.outer).lazy
            .compactMap { $0.declared.filter { $0.value == namespace && !$0.key.isEmpty }.keys.min() }.first
    }
}
