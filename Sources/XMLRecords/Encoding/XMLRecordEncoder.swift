/// Encodes values as XML that ``XMLRecordDecoder`` decodes to equal values.
///
/// Some differences are lost: white space at either end of a text, the fraction of a millisecond of a date, and, in an
/// optional that is not a string, the difference between nil and a value that is an empty element.
///
/// - Nil is not written. An empty string is an empty element or attribute. An empty list is nothing, or an empty
///   wrapper where its path has one. Only a wrapper distinguishes it from nil.
/// - Sets and dictionaries are written in the order of their elements' texts.
public struct XMLRecordEncoder: Sendable {
    /// The number of spaces before a child for each level of nesting; nil to write everything on one line.
    public var indentation: Int?
    /// The `userInfo` that types find in their encoder.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(indentation: Int? = 2, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.indentation = indentation
        self.userInfo = userInfo
    }

    /// Encodes a value as an element: well-formed XML without a declaration, which must be stored as UTF-8.
    ///
    /// - Parameter element: the element's name; if it is nil, ``XMLRecord/xmlElement`` or else the type's name.
    /// - Throws: ``XMLRecordError`` with the key if a value cannot be written: a control character, a name that XML
    ///   does not allow, a list in an attribute. Also any error of the value's own `encode(to:)`.
    public func encode<Value: Encodable>(_ value: Value, element: String? = nil) throws -> String {
        let session = EncodingSession(userInfo: userInfo)
        let layout = try session.layout(for: Swift.type(of: value))
        let root = OutputElement(name: element ?? layout.element, field: .root)
        try session.encode(value, to: .element(root), for: .root)
        return try OutputWriter.text(of: root, indentation: indentation)
    }
}
