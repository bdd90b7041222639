/// Writes the entries of a dictionary: elements named by their keys, or with their keys in an attribute.
struct EntryEncodingContainer<Key: CodingKey>: MemberEncodingContainer {
    let session: EncodingSession
    /// The element that holds the entries.
    let element: OutputElement
    let field: OutputField
    /// The attribute for the entries' keys; nil if the keys are the entries' names.
    let attribute: String?

    func encodeNil(forKey key: Key) throws { _ = try entry(key) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try session.encode(value, to: .element(entry(key)), for: field.elements)
    }

    func superEncoder() -> any Encoder {
        ElementEncoder(
            session: session, destination: .element(element), field: field.elements,
            layout: session.layout(forKeys: Key.self))
    }

    func encoder(_ key: Key, _ type: Any.Type) -> ElementEncoder {
        ElementEncoder(
            session: session, destination: .element(session.element { try entry(key) }), field: field.elements,
            layout: session.layout(forKeys: type))
    }

    private func entry(_ key: Key) throws -> OutputElement {
        guard let attribute else { return element.add(key.stringValue, for: field.elements) }
        let entry = try element.addElement(of: field)
        try session.check(key.stringValue, for: field, in: element)
        entry.set(attribute, to: key.stringValue, for: field)
        return entry
    }
}
