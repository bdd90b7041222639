import XMLStream

/// Writes passing elements as markup that is well-formed by itself, with the namespace declarations that it needs.
struct MarkupWriter {
    /// Namespaces whose elements are written with their local names only; see ``MarkupRules/plainNamespaces``.
    private let plainNamespaces: Set<String?>
    private var writer = XMLWriter()
    /// The namespaces bound to each prefix inside the markup, the innermost last.
    private var bound: [String: [String]] = [:]
    /// The open elements: their names as written here, and the prefixes that they bind.
    private var open: [(name: String, isPlain: Bool, prefixes: [String])] = []

    init(plainNamespaces: Set<String?> = []) { self.plainNamespaces = plainNamespaces }

    mutating func start(_ stream: XMLStreamParser) {
        let name = stream.name
        let isPlain = !plainNamespaces.isEmpty && plainNamespaces.contains(name.namespace)
        let written = isPlain ? name.local : name.qualified
        open.append((stream.isSynthetic ? ElementNaming.name(written) : written, isPlain, []))
        writer.start(open[open.count - 1].name)
        // An element written plainly is in no namespace here, even within an element that has one.
        bind(isPlain ? XMLName(qualified: name.local, local: name.local, namespace: nil) : name, isAttribute: false)
        stream.attributesOfElement.forEach { _, name, value in
            bind(name, isAttribute: true)
            writer.attribute(stream.isSynthetic ? ElementNaming.name(name.qualified) : name.qualified, value)
        }
    }

    /// Declares the name's namespace where the markup has not declared it.
    private mutating func bind(_ name: XMLName, isAttribute: Bool) {
        let prefix =
            name.qualified.utf8.count > name.local.utf8.count
            ? String(name.qualified.utf8.dropLast(name.local.utf8.count + 1)) ?? "" : ""
        if prefix == "xml" || isAttribute && prefix.isEmpty { return }
        let namespace = name.namespace ?? ""
        guard bound[prefix]?.last ?? "" != namespace else { return }
        bound[prefix, default: []].append(namespace)
        open[open.count - 1].prefixes.append(prefix)
        writer.attribute(prefix.isEmpty ? "xmlns" : "xmlns:" + prefix, namespace.utf8)
    }

    mutating func append(_ bytes: some Collection<UInt8>) { writer.text(bytes) }

    mutating func end() {
        guard let element = open.popLast() else { return }
        if element.isPlain, !Self.voidElements.contains(element.name) { closeTag() }
        writer.end(element.name)
        for prefix in element.prefixes { bound[prefix]?.removeLast() }
    }

    /// Ends the open start tag, so that content may follow.
    mutating func closeTag() { writer.markup(EmptyCollection()) }

    var bytes: [UInt8] { writer.bytes }
    var count: Int { writer.bytes.count }

    /// Elements of HTML that have no end tag (HTML Living Standard, section 13.1.2).
    private static let voidElements: Set = [
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
    ]
}

/// Rules for taking an element's content as markup; see ``FeedParser/collectMarkup(_:)``.
public struct MarkupRules: Sendable {
    /// The most bytes of the markup. More of them discard the run.
    public var limit = 16 << 20
    /// Namespaces whose elements are written without prefix and declaration. Empty elements get an end tag, unless they
    /// are HTML's void elements, so that an HTML reader understands the result. Elements of other namespaces declare
    /// them.
    public var plainNamespaces: Set<String?> = []
    /// The local name of an element that is removed, with its content kept, if it is the only content: XHTML's `div`
    /// in Atom.
    public var wrapper: String?

    public init() {}
}
