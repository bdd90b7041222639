/// The elements of a list, one after another.
struct ElementListContainer: UnkeyedDecodingContainer {
    let session: DecodingSession
    /// The element that the list belongs to.
    let node: Int32
    let field: FieldLayout
    /// The range in which the session has noted the elements.
    let range: Range<Int>
    private(set) var currentIndex = 0

    var codingPath: [any CodingKey] { [] }
    var count: Int? { range.count }
    var isAtEnd: Bool { currentIndex == range.count }

    mutating func decodeNil() throws -> Bool {
        guard session.tree.isEmpty(try next()) else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let value = try session.decode(type, at: next(), in: node, for: field)
        currentIndex += 1
        return value
    }

    private func next() throws -> ElementPlace {
        guard !isAtEnd else {
            throw session.refusal("has only \(range.count) elements", at: .missing, in: node, for: field)
        }
        return ElementPlace(node: session.notes[range.lowerBound + currentIndex])
    }

    private mutating func decoder(_ type: Any.Type) throws -> ElementDecoder {
        let decoder = ElementDecoder(
            session: session, place: try next(), node: node, field: field, layout: try session.layout(for: type))
        currentIndex += 1
        return decoder
    }

    mutating func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(type).container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try decoder(ElementListContainer.self).unkeyedContainer()
    }

    mutating func superDecoder() throws -> any Decoder { try decoder(ElementListContainer.self) }
}
