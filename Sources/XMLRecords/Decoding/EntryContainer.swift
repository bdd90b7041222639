/// The entries of a dictionary: elements keyed by their names or by one of their attributes.
struct EntryContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let session: DecodingSession
    /// The element that holds the entries.
    private let node: Int32
    private let field: FieldLayout
    private let keys: [String]
    private let nodes: [String: Int32]

    /// - Parameters:
    ///   - nodes: the range in which the session noted the entries. Of several with the same key, the first counts.
    ///   - attribute: the attribute that holds their keys; nil if their names are the keys.
    init(session: DecodingSession, node: Int32, field: FieldLayout, nodes range: Range<Int>, attribute: ElementName?) {
        self.session = session
        self.node = node
        self.field = field
        var keys: [String] = []
        var nodes: [String: Int32] = [:]
        for index in range {
            let entry = session.notes[index]
            var key = session.tree.name(of: entry)
            if let attribute {
                let place = session.tree.attribute(attribute, of: entry)
                key = String(decoding: session.tree.text(at: place), as: UTF8.self)
            }
            guard nodes[key] == nil else { continue }
            nodes[key] = entry
            keys.append(key)
        }
        self.keys = keys
        self.nodes = nodes
    }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { keys.compactMap { Key(stringValue: $0) } }

    func contains(_ key: Key) -> Bool { nodes[key.stringValue] != nil }

    func decodeNil(forKey key: Key) -> Bool { session.tree.isEmpty(place(key)) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try session.decode(type, at: place(key), in: node, for: field)
    }

    private func place(_ key: Key) -> ElementPlace {
        nodes[key.stringValue].map { ElementPlace(node: $0) } ?? .missing
    }

    private func decoder(_ key: Key) throws -> ElementDecoder {
        ElementDecoder(
            session: session, place: place(key), node: node, field: field, layout: try session.layout(for: Key.self))
    }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try superDecoder(forKey: nil) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder(forKey: key as Key?) }

    private func superDecoder(forKey key: Key?) throws -> any Decoder {
        ElementDecoder(
            session: session, place: key.map(place) ?? ElementPlace(node: node), node: node, field: field,
            layout: try session.layout(for: Key.self))
    }
}
