public import FeedModel
public import FeedStaging
import XMLStream

/// The base class of every parser: it turns a feed's elements into records.
///
/// Subclass it, override ``didStartElement()`` and ``didEndElement()``, and register the class with ``TributaryApp`` or
/// ``SyncService``. A request names the class as its `parser`. Each response gets a new parser. Its methods are called
/// one after another on the run's own executor, never on the cooperative pool, so they may block and need no locks.
///
/// ```swift
/// final class CompaniesParser: FeedParser {
///     private var company = Company()
///
///     override func didStartElement() throws {
///         if element == "company" { company = Company(id: attributes["id"] ?? "") }
///     }
///
///     override func didEndElement() throws {
///         switch element {
///         case "name": bind(&company.name)
///         case "company": try context.insert(company)
///         default: break
///         }
///     }
/// }
/// ```
///
/// An error thrown by a parser discards the whole run; the store stays as it was.
open class FeedParser {
    public required init() {}

    // MARK: - Declarations of a parser

    /// The parser's version. Raise it when the same document would now give other rows. The next request is then
    /// unconditional, so that a 304 does not keep rows of the former version.
    open class var version: Int { 1 }

    /// Idempotent SQL that creates the parser's tables where they do not exist, run before it parses. Empty if the
    /// program's migrations or a schema file create them.
    ///
    /// A later version may give its tables more columns. They are added to existing tables without NOT NULL, and
    /// existing rows have NULL in them until the feed gives a value. Keys and types stay as they are in the store.
    open class var schema: String { "" }

    /// The tables that the parser writes. `check` makes sure that they exist, and a request that mirrors deletes from
    /// each of them even when its feed holds no row for it. Tables that are written but not listed are learned at the
    /// first commit.
    open class var tables: [String] { [] }

    /// The columns that identify the rows of a table, by table; they need a unique index. Without an entry they are the
    /// table's primary key, if every record supplies it, or else the whole row.
    open class var keys: [String: [String]] { [:] }

    /// The columns, by table, that are written only for new rows and never changed: the time a row was first seen, for
    /// example.
    open class var insertOnly: [String: Set<String>] { [:] }

    /// The namespaces of the prefixes in the names that the parser compares: `["itunes": "http://www.itunes.com/…"]`. Such a
    /// prefix stands for its namespace in ``element``, ``parent`` and ``attributes``, whatever prefix the document has for
    /// it; with `""`, elements of that namespace have no prefix. Other prefixes are the document's.
    open class var namespaces: [String: String] { [:] }

    // MARK: - Callbacks

    /// Called when an element has begun. Its ``attributes`` are known; its text is not.
    open func didStartElement() throws {}

    /// Called when an element has ended. Its ``text`` and its ``attributes`` are known.
    open func didEndElement() throws {}

    /// Called when the document has ended and was well-formed.
    open func didEndDocument() throws {}

    // MARK: - Properties in callbacks

    /// The element's name with its prefix: `itunes:author`. The prefix is the one of ``namespaces``; as written, where the
    /// element's namespace is not there. An element that has one of those prefixes for another namespace is
    /// `{namespace}author`.
    public final var element: String {
        streamReference._withUnsafeGuaranteedRef { stream in
            guard let prefixes else { return stream.qualifiedName }
            return prefixes.name(stream.qualifiedName, stream.localName, stream.namespace)
        }
    }

    /// The element's name without its prefix, in any namespace.
    public final var localName: String { streamReference._withUnsafeGuaranteedRef { $0.localName } }

    /// The namespace to which the element's prefix, or the default namespace, is bound.
    public final var namespace: String? { streamReference._withUnsafeGuaranteedRef { $0.namespace } }

    /// The name of the enclosing element, as ``element``; nil for the root.
    public final var parent: String? {
        guard let written = streamReference._withUnsafeGuaranteedRef({ $0.parentQualifiedName }) else { return nil }
        guard let prefixes, let name = parentName else { return written }
        return prefixes.name(written, name.local, name.namespace)
    }

    /// The name of the enclosing element without its prefix, and its namespace; nil for the root.
    public final var parentName: (local: String, namespace: String?)? {
        guard depth > 1 else { return nil }
        let name = stream.name(atDepth: depth - 1)
        return (name.local, name.namespace)
    }

    /// The names of the open elements as written, from the root down: `/rss/channel/item/title`.
    public final var path: String { stream.path }

    /// The number of open elements, this one included; 1 for the root.
    public final var depth: Int { stream.depth }

    /// The element's attributes, by name, with the prefixes of ``namespaces`` or else as written.
    public final var attributes: FeedAttributes { FeedAttributes(stream.attributesOfElement, prefixes) }

    /// The element's own text, without the text of its children and without white space at either end. CDATA sections
    /// are included.
    public final var text: String {
        streamReference._withUnsafeGuaranteedRef { String(decoding: trimmed($0.textBytes), as: UTF8.self) }
    }

    /// The element's own text with its white space. Indentation before the first text is not kept where an element has
    /// children, unless a capture takes the whole text of an element around it.
    public final var rawText: String { String(decoding: stream.textBytes, as: UTF8.self) }

    /// Takes the content of the element that has begun as markup. Call it in ``didStartElement()``. The parser does
    /// not receive the elements in the content, and finds it in ``markup`` when the element ends. Free of cost where the
    /// content has no elements.
    public final func collectMarkup(_ rules: MarkupRules = MarkupRules()) { markupRules = rules }

    /// The markup of an element's content, in ``didEndElement()``, where it was to be taken and has elements in it.
    /// It is well-formed, its text is escaped, and white space at either end is removed. Nil if the content has no
    /// elements: its ``text`` is then all.
    public final internal(set) var markup: String?

    /// The current line of the document, counted from 1.
    public final var line: Int { stream.line }

    /// The context that takes records, and in which records of this run and of the main store are found.
    ///
    /// Traps outside the callbacks, as do all properties of this section: a parser parses one document only.
    public final var context: WorkerContext { session.context }

    /// The response whose body is being parsed.
    public final var response: FeedResponse { session.response }

    // MARK: - The session

    /// The rules for the content of the element that has begun, where the parser has just called ``collectMarkup(_:)``.
    final var markupRules: MarkupRules?

    struct Session {
        let context: WorkerContext
        let response: FeedResponse
    }

    // All are set before the first callback and never changed after. Hence `@exclusivity(unchecked)`, and the trap for
    // access to a parser that is not parsing. The stream is not retained: it outlives the callbacks, and it is read
    // several times an element.
    @exclusivity(unchecked) final var session: Session!
    /// The prefixes of ``namespaces``; nil without one.
    @exclusivity(unchecked) final var prefixes: NamespacePrefixes?
    @exclusivity(unchecked) final var streamReference: Unmanaged<XMLStreamParser>!

    @inline(__always)
    final var stream: XMLStreamParser { streamReference._withUnsafeGuaranteedRef { $0 } }
}

/// The attributes of the current element. Valid until the callback returns.
public struct FeedAttributes {
    let attributes: XMLAttributes
    private let prefixes: NamespacePrefixes?

    init(_ attributes: XMLAttributes, _ prefixes: NamespacePrefixes? = nil) {
        self.attributes = attributes
        self.prefixes = prefixes
    }

    /// The value of the attribute with this name; nil without one. A prefix of ``FeedParser/namespaces`` stands for
    /// its namespace; any other is compared as written.
    public subscript(name: String) -> String? {
        withValue(of: name) { String(decoding: $0, as: UTF8.self) }
    }

    /// Passes the bytes of a value to `body`. They are valid only inside `body`.
    func withValue<Result>(of name: String, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result? {
        guard let prefixes, let (local, namespace) = prefixes.split(name) else {
            return attributes.withValue(of: name, body)
        }
        return attributes.withValue(of: .qualified(namespace: namespace, prefix: "", local: local), body)
    }

    /// The value of the attribute with this local name in a namespace, whatever prefix the document uses; nil without
    /// such an attribute.
    public subscript(local: String, namespace namespace: String) -> String? {
        attributes.withValue(of: .qualified(namespace: namespace, prefix: "", local: local)) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    public var isEmpty: Bool { attributes.isEmpty }

    /// All names as written, with their values, in document order.
    public var all: [(name: String, value: String)] { attributes.all.map { ($0.name.qualified, $0.value) } }
}

/// The prefixes that a parser declares for namespaces.
struct NamespacePrefixes {
    private let namespaces: [(prefix: String, namespace: String)]
    /// The most bytes of a namespace in a name: the document chooses its length.
    private static let longestShown = 1_000

    /// - Returns: nil without one.
    /// - Precondition: no namespace has two prefixes.
    init?(_ namespaces: [String: String]) {
        guard !namespaces.isEmpty else { return nil }
        precondition(Set(namespaces.values).count == namespaces.count, "a namespace of a parser has two prefixes")
        self.namespaces = namespaces.map { ($0.key, $0.value) }
    }

    /// Returns an element's name with the declared prefix of its namespace.
    func name(_ written: String, _ local: String, _ namespace: String?) -> String {
        if let namespace, let declared = namespaces.first(where: { $0.namespace == namespace }) {
            return declared.prefix.isEmpty ? local : "\(declared.prefix):\(local)"
        }
        let prefix = written.dropLast(local.count).dropLast()
        guard namespaces.contains(where: { $0.prefix == prefix }) else { return written }
        // An element in no namespace is as written, also where elements of a namespace have no prefix.
        if namespace == nil, prefix.isEmpty { return written }
        return "{\((namespace ?? "").prefix(Self.longestShown))}\(local)"
    }

    /// Returns an attribute's name in parts; nil if its prefix is not declared. One without a prefix has no
    /// namespace.
    func split(_ name: String) -> (local: String, namespace: String)? {
        guard let colon = name.firstIndex(of: ":"),
            let declared = namespaces.first(where: { $0.prefix == name[..<colon] })
        else { return nil }
        return (String(name[name.index(after: colon)...]), declared.namespace)
    }
}
