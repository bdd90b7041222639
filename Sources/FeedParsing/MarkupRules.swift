/// Rules for taking an element's content as markup; see ``FeedParser/collectMarkup(_:)``.
public struct MarkupRules: Sendable {
    /// The most bytes of the markup. More of them discard the run.
    public var limit = 16 << 20
    /// Namespaces whose elements are written without prefix and declaration. Empty elements get an end tag, unless they
    /// are HTML's void elements, so that an HTML reader understands the result. Elements of other namespaces declare
    /// them.
    public var plainNamespaces: Set<String?> = []
    /// The local name of an element that is left out, with its content kept, where it is the only content: XHTML's
    /// `div` in Atom.
    public var wrapper: String?

    public init() {}
}
