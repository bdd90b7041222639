/// The limits beyond which a document is taken for an attack or a mistake.
///
/// libxml2 has further limits of its own, because `XML_PARSE_HUGE` is never set: 10,000,000 bytes in one attribute
/// value and in the dictionary of names, 50,000 in a name, and 10,000,000 of markup that has not ended.
public struct XMLLimits: Sendable, Equatable {
    /// Elements open at the same time.
    public var depth = 1_000
    /// Bytes of UTF-8 in the name of an element or attribute, prefix included.
    public var nameLength = 1_000
    /// Different names, of elements and attributes together.
    public var names = 10_000
    /// Attributes and namespace declarations of one element: as many as an SQLite table has columns.
    public var attributes = 2_000
    /// Namespace declarations in force at the same time.
    public var namespaces = 1_000
    /// Bytes of UTF-8 in the text of the elements open at the same time, and in one element's attributes.
    public var textLength = 16 << 20
    /// Bytes of UTF-8 that entities declared in the document may expand to, over the whole document.
    public var entityExpansion = 1 << 20
    /// Bytes of the document type declaration.
    public var declarationLength = 256 << 10
    /// Declarations in the document type declaration: of entities, attributes, elements and notations.
    public var declarations = 10_000
    /// Attributes that one element has from defaults in the document type declaration.
    public var defaultsOfElement = 100
    /// Bytes of attributes from such defaults, as they would be written, over the whole document.
    public var defaultLength = 256 << 20

    public init() {}
}

/// Counts the attributes of a start tag before it is complete. libxml2's work for one element grows with the square of
/// their number, and nothing can interrupt it.
struct UnreadTag {
    private var position = 0
    private var quote: UInt8?
    private enum Part { case space, name, equals, value }
    private var part = Part.space
    /// The tag's name, and the names of attributes.
    private var words = 0

    /// The number of attributes that have begun.
    var attributes: Int { max(words - 1, 0) }

    /// - Parameter bytes: the tag from its first byte, at least as much of it as in the last call.
    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>) {
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            if let open = quote {
                if byte == open { quote = nil }
                continue
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"):
                if part == .equals { (quote, part) = (byte, .space) }
            case UInt8(ascii: "=") where part != .value: part = .equals
            case UInt8(ascii: "/") where part == .name: part = .space
            case UInt8(ascii: "<"), UInt8(ascii: "/"), UInt8(ascii: ">"): break
            case _ where isXMLSpace(byte):
                if part != .equals { part = .space }
            default:
                if part == .space { words += 1 }
                part = part == .space || part == .name ? .name : .value
            }
        }
    }
}
