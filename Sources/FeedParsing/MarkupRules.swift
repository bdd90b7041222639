/// How an element's content is taken as markup; see ``FeedParser/collectMarkup(_:)``.
public struct MarkupRules: Sendable {
    /// Bytes that the markup may have. More of them discard the run.
    public var limit = 16 << 20
    /// Namespaces whose elements are written without prefix and declaration, and with an end tag where they are empty, unless
    /// they are HTML's void elements: what reads the result as HTML then reads what was meant. Elements of other namespaces
    /// declare them.
    public var plainNamespaces: Set<String?> = []
    /// The local name of an element that is left out, its content kept, where it is all that there is: XHTML's `div` in Atom.
    public var wrapper: String?

    public init() {}
}
