/// The attributes of the element that a handler receives. They are valid until the call returns.
public struct XMLAttributes {
    // `unowned(unsafe)`: attributes are valid only while the parser calls its handler.
    unowned(unsafe) let stream: XMLStreamParser
    let range: Range<Int>
    /// The number of the element in the document.
    let element: Int

    public var count: Int { range.count }
    public var isEmpty: Bool { range.isEmpty }

    /// Returns the value of the attribute with this name as written, prefix included; nil without such an attribute.
    public subscript(name: String) -> String? {
        withValue(of: name) { String(decoding: $0, as: UTF8.self) }
    }

    /// The name and value of every attribute, in document order. Namespace declarations are not attributes.
    public var all: [(name: XMLName, value: String)] {
        range.map { index in
            let attribute = stream.attribute(index)
            return (
                stream.name(attribute.name), String(decoding: stream.attributeBytes(attribute.value), as: UTF8.self)
            )
        }
    }

    /// Passes the bytes of a value to `body`, without making a `String` of them. They are valid only inside `body`.
    package func withValue<Result>(
        of name: String, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        guard range.count < XMLAttributeIndex.fewest else {
            guard let index = stream.attributeIndex.attribute(name, of: self) else { return nil }
            return try body(stream.attributeBytes(stream.attribute(index).value))
        }
        for index in range {
            let attribute = stream.attribute(index)
            if stream.names.qualified(attribute.name) == name {
                return try body(stream.attributeBytes(attribute.value))
            }
        }
        return nil
    }

    /// Passes the bytes of the first value whose attribute's name passes a test. They are valid only inside `body`.
    package func withValue<Result>(
        of test: XMLPath.NameTest, _ body: (UnsafeBufferPointer<UInt8>) throws -> Result
    ) rethrows -> Result? {
        for index in range {
            let attribute = stream.attribute(index)
            if test.matches(stream.name(attribute.name)) { return try body(stream.attributeBytes(attribute.value)) }
        }
        return nil
    }

    /// Returns true if every one of these conditions is met. As in XPath, `a[@lang!='en']` is not without the attribute.
    package func satisfy(_ predicates: [XMLPath.Predicate]) -> Bool {
        predicates.allSatisfy { predicate in
            withValue(of: predicate.attribute) { predicate.condition.accepts($0) } ?? false
        }
    }

    /// Returns the name with this number.
    package func name(_ number: Int32) -> XMLName { stream.name(number) }

    /// Does the same as ``forEach(_:)``, without the names.
    @inline(__always)
    package func forEachNumbered(_ body: (Int32, UnsafeBufferPointer<UInt8>) throws -> Void) rethrows {
        for index in range {
            let attribute = stream.attribute(index)
            try body(attribute.name, stream.attributeBytes(attribute.value))
        }
    }

    /// Calls `body` for every attribute, with its name's number among the names of the document, its name, and the
    /// bytes of its value. The bytes are valid only inside `body`.
    package func forEach(_ body: (Int32, XMLName, UnsafeBufferPointer<UInt8>) throws -> Void) rethrows {
        for index in range {
            let attribute = stream.attribute(index)
            try body(attribute.name, stream.name(attribute.name), stream.attributeBytes(attribute.value))
        }
    }
}

/// The positions of one element's attributes by their names as written, for callers that look up many of them.
struct XMLAttributeIndex: ~Copyable {
    /// The fewest attributes for which the index is used. Elements with fewer are searched in order.
    static let fewest = 8

    /// The element that is indexed.
    private var element = -1
    /// By a name's number: the place of that attribute, and the element for which it was noted.
    private var places: [(element: Int, attribute: Int)] = []
    /// The numbers of names by their written form; more than one where prefixes stand for several namespaces.
    private var numbers: [String: [Int32]] = [:]
    private var known: Int32 = 0

    /// Returns the first of an element's attributes with this name.
    mutating func attribute(_ name: String, of attributes: XMLAttributes) -> Int? {
        if attributes.element != element { index(attributes) }
        guard let numbers = numbers[name] else { return nil }
        var first: Int?
        for number in numbers {
            let place = places[Int(number)]
            if place.element == element, place.attribute < first ?? .max { first = place.attribute }
        }
        return first
    }

    private mutating func index(_ attributes: XMLAttributes) {
        element = attributes.element
        let stream = attributes.stream
        while known < stream.names.count {
            numbers[stream.names.qualified(known), default: []].append(known)
            places.append((-1, 0))
            known += 1
        }
        // From the last to the first: of two attributes with one name, the first counts.
        for index in attributes.range.reversed() {
            places[Int(stream.attribute(index).name)] = (element, index)
        }
    }
}
