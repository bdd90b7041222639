import XMLStream

/// An element of an XML Schema document: a declaration, a definition or a part of one.
final class SchemaNode {
    /// The element's local name: `complexType`.
    let kind: String
    let attributes: [String: String]
    var children: [SchemaNode] = []
    /// The beginning of its documentation, in one line; nil without any.
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

    /// True if an attribute is `true` or `1`.
    func isTrue(_ attribute: String) -> Bool { ["true", "1"].contains(attributes[attribute] ?? "") }

    /// The declared name, in the schema's target namespace.
    var name: SchemaName? { self["name"].map { SchemaName(local: $0, namespace: document.namespace) } }

    /// Returns the name declared within a type, which is in the target namespace if its form says so.
    ///
    /// - Parameter formDefault: the attribute of the schema's root with the form of those that have none of their own.
    func localName(_ formDefault: String) -> SchemaName? {
        let isQualified = (self["form"] ?? document.root?[formDefault]) == "qualified"
        return self["name"].map { SchemaName(local: $0, namespace: isQualified ? document.namespace : nil) }
    }

    /// Returns the name that an attribute refers to: `type="po:Address"`.
    func reference(_ attribute: String) -> SchemaName? { self[attribute].map(resolved) }

    /// Returns a name with the namespace that its prefix is bound to here.
    func resolved(_ text: String) -> SchemaName {
        let parts = text.split(separator: ":", maxSplits: 1).map(String.init)
        guard parts.count == 2 else {
            let namespace = namespaces.namespace(of: "") ?? (document.isAdopted ? document.namespace : nil)
            return SchemaName(local: text, namespace: namespace)
        }
        return SchemaName(local: parts[1], namespace: namespaces.namespace(of: parts[0]))
    }

    /// Returns a prefix that a namespace has here.
    func prefix(of namespace: String) -> String? { namespaces.prefix(of: namespace) }

    /// The names in an attribute that lists several.
    func references(_ attribute: String) -> [SchemaName] {
        (self[attribute] ?? "").split(whereSeparator: \.isWhitespace).map { resolved(String($0)) }
    }

    /// The key, unique value or reference that the element declares; nil where it is another.
    var constraint: DeclaredConstraint? {
        DeclaredConstraint.Kind(rawValue: kind).map { kind in
            DeclaredConstraint(
                kind: kind, label: self["name"] ?? "", name: name, target: reference("refer"),
                selector: child("selector")?["xpath"] ?? "",
                fields: children.filter { $0.kind == "field" }.map { $0["xpath"] ?? "" })
        }
    }

    /// The most occurrences are more than one.
    var repeats: Bool {
        guard let most = self["maxOccurs"] else { return false }
        return most == "unbounded" || Int(most).map { $0 > 1 } ?? true
    }

    /// False if it need not occur.
    var isRequired: Bool { self["minOccurs"].map { Int($0) != 0 } ?? true }
}

typealias SchemaName = ElementProfile.Identity

extension SchemaName {
    static let schemaNamespace = "http://www.w3.org/2001/XMLSchema"
    static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// True if XML Schema itself defines the type.
    var isBuiltIn: Bool { namespace == Self.schemaNamespace }
}
