/// The name of an element or attribute. A parser makes each name of a document once.
public struct XMLName: Sendable, Equatable {
    /// As written in the document: `itunes:author`.
    public let qualified: String
    /// Without the prefix: `author`.
    public let local: String
    /// What the prefix, or the default namespace, is bound to; nil for no namespace.
    public let namespace: String?

    package init(qualified: String, local: String, namespace: String?) {
        self.qualified = qualified
        self.local = local
        self.namespace = namespace
    }

    /// A name without what tells `camelCase`, `snake_case` and `kebab-case` apart: lower case letters and digits.
    package static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." }
    }
}
