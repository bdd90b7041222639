/// A type whose values are the elements at a path, none of them included.
protocol XMLListType {
    static var xmlElementType: Any.Type { get }
}

extension Array: XMLListType {
    static var xmlElementType: Any.Type { Element.self }
}

extension ContiguousArray: XMLListType {
    static var xmlElementType: Any.Type { Element.self }
}

extension Set: XMLListType {
    static var xmlElementType: Any.Type { Element.self }
}

/// A set: written in the order of its elements' texts, because its own differs from one run to the next.
protocol XMLSetType {}

extension Set: XMLSetType {}

/// A type whose values are entries with names of their own, not known to the type.
protocol XMLDictionaryType {
    static var xmlValueType: Any.Type { get }
}

extension Dictionary: XMLDictionaryType {
    static var xmlValueType: Any.Type { Value.self }
}

protocol XMLOptionalType {
    static var xmlWrappedType: Any.Type { get }
}

extension Optional: XMLOptionalType {
    static var xmlWrappedType: Any.Type { Wrapped.self }
}

/// A key of which only the text is known.
struct ElementKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
