/// Writes the one value at a place.
struct ElementValueEncodingContainer: SingleValueEncodingContainer {
    let session: EncodingSession
    let destination: ElementEncoder.Destination
    let field: OutputField

    var codingPath: [any CodingKey] { [] }

    /// What is nil is not written; of an element of a list, the empty element is there already.
    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        try session.encode(value, to: destination, for: field)
    }
}
