/// The name of an element, an attribute or a definition without its prefix: a local name in a namespace.
struct ExpandedName: Hashable {
    let local: String
    let namespace: String?

    static let schemaNamespace = "http://www.w3.org/2001/XMLSchema"
    static let xmlNamespace = "http://www.w3.org/XML/1998/namespace"

    /// True where XML Schema itself defines the type.
    var isBuiltIn: Bool { namespace == Self.schemaNamespace }
}

/// The reason that a schema cannot be read, or allows no tables.
package struct SchemaError: Error, Sendable, Equatable, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}
