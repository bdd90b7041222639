/// A type whose values hold the elements at a path, or none.
protocol XMLListType {
    static var xmlElementType: Any.Type { get }
}

extension XMLListType where Self: Sequence {
    static var xmlElementType: Any.Type { Element.self }
}

extension Array: XMLListType {}
extension ContiguousArray: XMLListType {}
extension Set: XMLListType {}

/// A set. It is written in the order of its elements' texts, because its own order differs from one run to the next.
protocol XMLSetType {}

extension Set: XMLSetType {}

/// A type whose values hold entries under names that the type does not know.
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

/// A coding key that is known only by its text.
struct ElementKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ text: String) { stringValue = text }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
}
