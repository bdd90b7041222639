import XMLStream

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
