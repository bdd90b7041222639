// The protocol for convertible values is part of the declaration of records.
@_exported public import protocol XMLStream.XMLConvertible

/// A `Codable` type that describes its place in XML.
///
/// Nothing need be declared where the document has an attribute or a child element for every coding key. The static
/// members below declare differences; each has a default. A name's prefix stands for its namespace
/// in ``xmlNamespaces``; one that is not there is compared as the document writes it.
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
/// - Text and attributes are read without white space at either end. Numbers, booleans, dates, data, URLs, decimals and
///   every other ``XMLConvertible`` type are read as in ``FeedParser``.
/// - A list or set takes every element at its path: all children of its name, or those inside a wrapper with a path
///   such as `tags/tag`. Without elements it is empty.
/// - A `[String: Value]` takes the children of the element at its path, with their names as keys. With a path that ends
///   in `entry[@key]`, it takes the elements of that name, with that attribute as the key.
/// - An optional is nil if the attribute or element is missing or empty. But an optional string is `""` where it is
///   empty, and an empty wrapper is an empty list.
/// - Where one value is wanted and there are several elements, the first counts.
/// - An enumeration is read by its raw value. One with associated values is the child element named after the case. A
///   case's value without a label is the content of that element.
/// - A nested `Codable` type that is not an `XMLRecord` is read by the defaults.
/// - `superDecoder()` and `superEncoder()` use the same element: a subclass's members lie beside its superclass's.
public protocol XMLRecord: Codable {
    /// The name of the record's element, where nothing else names it. By default it is the type's name, in lower case
    /// at its beginning.
    static var xmlElement: String { get }

    /// The paths of coding keys' values: `@id`, `name`, `info/name`, `info/@lang`, `link[@rel='self']/@href`, or `.`
    /// for the element's own text or, with a nested type, its own content. Without a path, a key is the attribute of
    /// its name where there is one to which no other key's path leads, and otherwise the child elements of its name. It
    /// is written as an element.
    static var xmlPaths: [String: String] { get }

    /// The order in which coding keys are written. Keys not in it follow in the order in which they are encoded.
    static var xmlOrder: [String] { get }

    /// The format of dates: a pattern such as `%d.%m.%Y` (strptime) or `dd.MM.yyyy` (Unicode). With nil, ISO 8601 and
    /// RFC 822 are read, and ISO 8601 in UTC, to the millisecond, is written.
    static var xmlDateFormat: String? { get }

    /// The transforms of coding keys' texts, between the document and the conversion to values.
    static var xmlTransforms: [String: XMLTransform] { get }

    /// The namespaces of the prefixes in names. They are declared where the record is written. Where it is read, such a
    /// prefix stands for its namespace, whatever prefix the document has for it; with `""`, elements without a prefix are
    /// found in that namespace, too. Other prefixes are compared as the document writes them.
    static var xmlNamespaces: [String: String] { get }

    /// Returns true if an element is a record. It is called before decoding. Other elements are left out of lists and
    /// streams, and count as missing where one record is wanted.
    static func accepts(_ element: XMLElementView) -> Bool

    /// Returns the type to decode an element as: by default this one. In a list, and wherever a value of this type is
    /// wanted, it must be a subclass. A parser made of a record type inserts a record of any type.
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

/// Returns a type's name without generic arguments and in lower case at its beginning: `Box<Int>` becomes `box`.
func xmlElementName(of type: Any.Type) -> String {
    let name = String(describing: type).prefix { $0 != "<" }
    return name.prefix(1).lowercased() + name.dropFirst()
}

/// A change to a value's text between reading and conversion, and the reverse for writing.
///
/// In a list, a set or a dictionary it applies to each text. Missing values are not transformed.
public struct XMLTransform: Sendable {
    /// Converts the document's text, without white space at either end, to the text for conversion.
    public let decode: @Sendable (String) throws -> String
    /// Converts a value's text to the document's.
    public let encode: @Sendable (String) throws -> String

    public init(
        decode: @escaping @Sendable (String) throws -> String, encode: @escaping @Sendable (String) throws -> String
    ) {
        self.decode = decode
        self.encode = encode
    }
}
