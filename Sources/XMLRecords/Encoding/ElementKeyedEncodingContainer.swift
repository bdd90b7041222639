/// Writes the members of a record, each at its path.
struct ElementKeyedEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let session: EncodingSession
    let element: OutputElement
    let layout: OutputLayout

    var codingPath: [any CodingKey] { [] }

    /// Writes nothing for nil.
    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try session.encode(value, to: .field(element), for: layout.field(key.stringValue))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key, NestedKey.self).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key, Key.self).unkeyedContainer()
    }

    func superEncoder() -> any Encoder {
        ElementEncoder(session: session, destination: .element(element), field: .root, layout: layout)
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key, Key.self) }

    /// - Parameter type: stands in for the nested value's unknown type. It is written by the defaults.
    private func encoder(_ key: Key, _ type: Any.Type) -> ElementEncoder {
        ElementEncoder(
            session: session, destination: .field(element), field: layout.field(key.stringValue),
            layout: session.layout(forKeys: type))
    }
}
