public import FeedModel
public import FeedStore
import XMLStream

/// What turns a feed's elements into records: the base class of every parser.
///
/// Subclass it, override ``didStartElement()`` and ``didEndElement()``, and register the class with ``TributaryApp`` or
/// ``SyncService``. A request names the class as its `parser`. For each response a parser is made anew; its methods
/// are called one after another on the run's own executor, never on the cooperative pool, so they may block and need
/// no locks.
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

    // MARK: - What a parser declares of itself

    /// Raise it when the same document would now give other rows: the next request is then unconditional, so that rows
    /// parsed by the former version do not outlive it behind a 304.
    open class var version: Int { 1 }

    /// Idempotent SQL that makes the parser's tables where they do not exist, run before it parses. Empty where the program's
    /// migrations or a schema file make them.
    ///
    /// A later version may give its tables more columns: they are added to tables that are there, without NOT NULL, and the
    /// rows that are there have NULL in them until their feed says more. Keys and types stay as they are in the store.
    open class var schema: String { "" }

    /// The tables that the parser writes. `check` makes sure that they exist, and a request that mirrors deletes from
    /// each of them even when its feed holds no row for it. Tables written but not listed are learnt at the first commit.
    open class var tables: [String] { [] }

    /// For a table, the columns under a unique index that identify its rows. Without an entry they are the table's
    /// primary key, if every record supplies it, or else the whole row.
    open class var keys: [String: [String]] { [:] }

    /// For a table, the columns that are written only where the row is new, and never changed: when it was first seen, say.
    open class var insertOnly: [String: Set<String>] { [:] }

    // MARK: - What a parser is told

    /// An element has begun. Its ``attributes`` are known; its text is not.
    open func didStartElement() throws {}

    /// An element has ended. Its ``text`` and its ``attributes`` are known.
    open func didEndElement() throws {}

    /// The document has ended, and was well-formed.
    open func didEndDocument() throws {}

    // MARK: - What a parser may ask

    /// The element's name as written, with its prefix: `itunes:author`.
    public final var element: String { streamReference._withUnsafeGuaranteedRef { $0.qualifiedName } }

    /// The element's name without its prefix, whatever namespace it is in.
    public final var localName: String { streamReference._withUnsafeGuaranteedRef { $0.localName } }

    /// What the element's prefix, or the default namespace, is bound to.
    public final var namespace: String? { streamReference._withUnsafeGuaranteedRef { $0.namespace } }

    /// The name as written of the element that holds this one; nil for the root.
    public final var parent: String? { streamReference._withUnsafeGuaranteedRef { $0.parentQualifiedName } }

    /// The names of the open elements as written, from the root down: `/rss/channel/item/title`.
    public final var path: String { stream.path }

    /// Open elements, this one included; 1 for the root.
    public final var depth: Int { stream.depth }

    /// The element's attributes, by name as written.
    public final var attributes: FeedAttributes { FeedAttributes(stream.attributesOfElement) }

    /// The element's own text without white space at either end, CDATA sections included, its children's left out.
    public final var text: String {
        streamReference._withUnsafeGuaranteedRef { String(decoding: trimmed($0.textBytes), as: UTF8.self) }
    }

    /// The element's own text with its white space. Indentation before the first text is not kept where an element has
    /// children.
    public final var rawText: String { String(decoding: stream.textBytes, as: UTF8.self) }

    /// Takes the content of the element that has begun as markup. To be called in ``didStartElement()``: the parser is not
    /// told of the elements in it, and finds it in ``markup`` when the element ends. Costs nothing where there are none.
    public final func collectMarkup(_ rules: MarkupRules = MarkupRules()) { markupRules = rules }

    /// In ``didEndElement()``, the content of an element that was to be taken as markup and has elements in it: well-formed,
    /// its text escaped, without white space at either end. Nil where it has none: its ``text`` then says all.
    public final internal(set) var markup: String?

    /// The line of the document that has been reached, counted from 1.
    public final var line: Int { stream.line }

    /// Where records go, and where those of this run and of the main store are found.
    ///
    /// Traps outside the callbacks, as does everything else that a parser may ask: it parses one document only.
    public final var context: WorkerContext { session.context }

    /// The response whose body is being parsed.
    public final var response: FeedResponse { session.response }

    // MARK: - The session

    /// How the content of the element that has begun is to be taken, where the parser has just said so.
    final var markupRules: MarkupRules?

    struct Session {
        let context: WorkerContext
        let response: FeedResponse
    }

    // Both are set before the first callback and never changed after; hence `@exclusivity(unchecked)`, and the trap for
    // whoever asks a parser that is not parsing. The stream is not retained: it belongs to the ``XMLBodyParser`` that the
    // parser belongs to, and it is asked several times an element.
    @exclusivity(unchecked) final var session: Session!
    @exclusivity(unchecked) final var streamReference: Unmanaged<XMLStreamParser>!

    @inline(__always)
    final var stream: XMLStreamParser { streamReference._withUnsafeGuaranteedRef { $0 } }
}

/// The attributes of the element that a parser is being told of. Valid until the callback returns.
public struct FeedAttributes {
    let attributes: XMLAttributes

    init(_ attributes: XMLAttributes) { self.attributes = attributes }

    /// The value of the attribute with this name, as written with its prefix; nil where there is none.
    public subscript(name: String) -> String? { attributes[name] }

    public var isEmpty: Bool { attributes.isEmpty }

    /// Names as written, and values, in document order.
    public var all: [(name: String, value: String)] { attributes.all.map { ($0.name.qualified, $0.value) } }
}
