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
