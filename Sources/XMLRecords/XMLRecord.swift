// What converts to values is part of how records are declared.
@_exported public import protocol XMLStream.XMLConvertible

/// A `Codable` type that says how it lies in XML.
///
/// Nothing has to be said where the document has an attribute or a child element for every coding key. What differs is
/// said by the static members below; each has a default. Names are those of the document, prefix included.
///
/// ```swift
/// struct Food: XMLRecord, FeedRecord {
///     var id: Int
///     var name: String
///     var tags: [String]
///
///     static var xmlPaths: [String: String] { ["id": "@number", "tags": "tags/tag"] }
/// }
///
/// let food = try XMLRecordDecoder().decode(Food.self, from: "<food number='7'><name>Rice</name></food>")
/// let xml = try XMLRecordEncoder().encode(food)
/// ```
///
/// - Text and attributes are read without white space at either end. Numbers, booleans, dates, data, URLs, decimals
///   and every other ``XMLConvertible`` type are read as ``FeedParser`` binds them.
/// - A list or set takes every element at its path: all children of its name, or those inside a wrapper with a path
///   such as `tags/tag`. One without elements is empty.
/// - A `[String: Value]` takes the children of the element at its path, keyed by their names, or, with a path that ends
///   in `entry[@key]`, the elements of that name, keyed by that attribute.
/// - An optional is nil where there is no attribute or element, and where it is empty: an empty string is `""` where the
///   optional is of a string, and an empty wrapper is an empty list.
/// - Of several elements where one value is wanted, the first counts.
/// - An enumeration is read by its raw value. One with associated values is the child element named after the case; the
///   value of a case without a label is that element's own content.
/// - A nested `Codable` type that is not an `XMLRecord` is read by the defaults.
/// - `superDecoder()` and `superEncoder()` are of the same element: a subclass's members lie beside its superclass's.
public protocol XMLRecord: Codable {
    /// The element that a record is, where nothing else names it. The type's name in lower case at its beginning, unless
    /// the type says otherwise.
    static var xmlElement: String { get }

    /// Where the values of coding keys lie: `@id`, `name`, `info/name`, `info/@lang`, `link[@rel='self']/@href`, or `.`
    /// for the element's own text or, of a nested type, its own content. A key that is not mentioned is the attribute of
    /// its name where there is one that no other key's path leads to, and the child elements of its name otherwise; it is
    /// written as an element.
    static var xmlPaths: [String: String] { get }

    /// Coding keys in the order in which they are written. Those that are not mentioned follow as they are encoded.
    static var xmlOrder: [String] { get }

    /// How dates are read and written: a pattern such as `%d.%m.%Y` (strptime) or `dd.MM.yyyy` (Unicode). Nil: ISO 8601
    /// and RFC 822 are read, and ISO 8601 in UTC, to the millisecond, is written.
    static var xmlDateFormat: String? { get }

    /// What happens to the text of a coding key's values between the document and their conversion.
    static var xmlTransforms: [String: XMLTransform] { get }

    /// What the prefixes in names stand for where the record is written.
    static var xmlNamespaces: [String: String] { get }

    /// Whether an element is a record, asked before it is decoded. Others are left out of lists and streams, and are as
    /// good as missing where one record is wanted.
    static func accepts(_ element: XMLElementView) -> Bool

    /// The type that an element is decoded as: this one, unless the type says otherwise. In a list and wherever a value
    /// of this type is wanted it must be a subclass; a ``RecordParser`` inserts it as whatever type it is.
    static func recordType(for element: XMLElementView) -> any XMLRecord.Type
}

extension XMLRecord {
    public static var xmlElement: String { xmlElementName(of: Self.self) }
    public static var xmlPaths: [String: String] { [:] }
    public static var xmlOrder: [String] { [] }
    public static var xmlDateFormat: String? { nil }
    public static var xmlTransforms: [String: XMLTransform] { [:] }
    public static var xmlNamespaces: [String: String] { [:] }
    public static func accepts(_ element: XMLElementView) -> Bool { true }
    public static func recordType(for element: XMLElementView) -> any XMLRecord.Type { Self.self }
}

/// A type's name without its generic arguments and in lower case at its beginning: `Box<Int>` is a `box`.
func xmlElementName(of type: Any.Type) -> String {
    let name = String(describing: type).prefix { $0 != "<" }
    return name.prefix(1).lowercased() + name.dropFirst()
}

/// What happens to the text of a value after it is read and before it is converted, and the reverse.
///
/// Of a list, a set or a dictionary it is applied to each text. A value that is missing is not transformed.
public struct XMLTransform: Sendable {
    /// From the document's text, without white space at either end, to the text that is converted.
    public let decode: @Sendable (String) throws -> String
    /// From a value's text to the document's.
    public let encode: @Sendable (String) throws -> String

    public init(
        decode: @escaping @Sendable (String) throws -> String, encode: @escaping @Sendable (String) throws -> String
    ) {
        self.decode = decode
        self.encode = encode
    }
}
