/// Writes the elements of a list.
struct ElementListEncodingContainer: UnkeyedEncodingContainer {
    let session: EncodingSession
    /// The element that holds the list's elements.
    let element: OutputElement
    let field: OutputField
    /// True if the field's path names the elements; otherwise their types name them.
    let isNamed: Bool
    private(set) var count = 0

    var codingPath: [any CodingKey] { [] }

    mutating func encodeNil() throws { _ = try addNext(named: "nil") }

    mutating func encode<Value: Encodable>(_ value: Value) throws {
        let element = try addNext(named: session.layout(for: Swift.type(of: value)).element)
        try session.encode(value, to: .element(element), for: field.elements)
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(type).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        encoder(ElementListEncodingContainer.self).unkeyedContainer()
    }

    mutating func superEncoder() -> any Encoder { encoder(ElementListEncodingContainer.self) }

    private mutating func encoder(_ type: Any.Type) -> ElementEncoder {
        let layout = session.layout(forKeys: type)
        let next = session.element { try addNext(named: layout.element) }
        return ElementEncoder(
            session: session, destination: .element(next), field: field.elements, layout: layout)
    }

    private mutating func addNext(named name: String) throws -> OutputElement {
        count += 1
        return isNamed ? try element.addElement(of: field) : element.add(name, for: field)
    }
}
