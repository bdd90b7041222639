/// Encodes values as XML, which ``XMLRecordDecoder`` decodes to equal values.
///
/// What decoding does not keep does not survive: white space at either end of a text, the fraction of a millisecond of a
/// date, and, where an optional is not of a string, the difference between nil and a value that is an empty element.
///
/// - What is nil is not written. An empty string is an empty element or attribute. An empty list is nothing, or an empty
///   wrapper where its path has one, and is told from nil by that alone.
/// - Sets and dictionaries are written in the order of their elements' texts.
public struct XMLRecordEncoder: Sendable {
    /// Spaces before a child for each element that it is in; nil for everything on one line.
    public var indentation: Int?
    /// What types find as their encoder's `userInfo`.
    public var userInfo: [CodingUserInfoKey: any Sendable]

    public init(indentation: Int? = 2, userInfo: [CodingUserInfoKey: any Sendable] = [:]) {
        self.indentation = indentation
        self.userInfo = userInfo
    }

    /// Encodes a value as an element: well-formed XML without a declaration, to be stored as UTF-8.
    ///
    /// - Parameter element: the element's name; ``XMLRecord/xmlElement``, or else the type's name, where it is nil.
    /// - Throws: ``XMLRecordError`` with the key where there is no way to write a value: a control character, a name
    ///   that is not one in XML, a list in an attribute; and what the value's own `encode(to:)` throws.
    public func encode<Value: Encodable>(_ value: Value, element: String? = nil) throws -> String {
        let session = EncodingSession(userInfo: userInfo)
        let layout = try session.layout(for: Swift.type(of: value))
        let root = OutputElement(name: element ?? layout.element, field: .root)
        try session.encode(value, to: .element(root), for: .root)
        return try OutputWriter.text(of: root, indentation: indentation)
    }
}
