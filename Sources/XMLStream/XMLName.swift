/// The name of an element or attribute. A parser makes each name of a document once.
public struct XMLName: Sendable, Equatable {
    /// As written in the document: `itunes:author`.
    public let qualified: String
    /// Without the prefix: `author`.
    public let local: String
    /// What the prefix, or the default namespace, is bound to; nil for no namespace.
    public let namespace: String?
}
