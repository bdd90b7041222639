import XMLStream

/// An element of an XML Schema document: a declaration, a definition or a part of one.
final class SchemaNode {
    /// The element's local name: `complexType`.
    let kind: String
    let attributes: [String: String]
    var children: [SchemaNode] = []
    /// The beginning of its documentation, in one line; nil where there is none.
    var documentation: String?
    /// The definition that this one redefines.
    var redefined: SchemaNode?
    unowned let document: SchemaDocument
    private let namespaces: NamespaceScope

    init(kind: String, attributes: [String: String], document: SchemaDocument, namespaces: NamespaceScope) {
        self.kind = kind
        self.attributes = attributes
        self.document = document
        self.namespaces = namespaces
    }

    subscript(attribute: String) -> String? { attributes[attribute] }

    func child(_ kind: String) -> SchemaNode? { children.first { $0.kind == kind } }

    /// True where an attribute is `true` or `1`.
    func isTrue(_ attribute: String) -> Bool { ["true", "1"].contains(attributes[attribute] ?? "") }

    /// The name of what is declared, in the schema's target namespace.
    var name: ExpandedName? { self["name"].map { ExpandedName(local: $0, namespace: document.namespace) } }

    /// Returns the name that an attribute refers to: `type="po:Address"`.
    func reference(_ attribute: String) -> ExpandedName? { self[attribute].map(resolved) }

    /// Returns a name with the namespace that its prefix is bound to here.
    func resolved(_ text: String) -> ExpandedName {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            let namespace = namespaces.namespace(of: "") ?? (document.isAdopted ? document.namespace : nil)
            return ExpandedName(local: text, namespace: namespace)
        }
        return ExpandedName(local: parts[1], namespace: namespaces.namespace(of: parts[0]))
    }

    /// Returns a prefix that a namespace has here.
    func prefix(of namespace: String) -> String? { namespaces.prefix(of: namespace) }

    /// The names in an attribute that lists several.
    func references(_ attribute: String) -> [ExpandedName] {
        (self[attribute] ?? "").split(whereSeparator: \.isWhitespace).map { resolved(String($0)) }
    }

    /// The most occurrences are more than one.
    var repeats: Bool {
        guard let most = self["maxOccurs"] else { return false }
        return most == "unbounded" || Int(most).map { $0 > 1 } ?? true
    }

    /// False where it need not occur.
    var isRequired: Bool { self["minOccurs"].map { Int($0) != 0 } ?? true }
}
