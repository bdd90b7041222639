import XMLStream

/// The attributes and children of an element, by coding key.
struct ElementKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let session: DecodingSession
    private let node: Int32
    private let layout: TypeLayout
    private let notes: Int

    init(session: DecodingSession, node: Int32, layout: TypeLayout) {
        self.session = session
        self.node = node
        self.layout = layout
        notes = session.noteChildren(of: node, for: layout)
    }

    var codingPath: [any CodingKey] { [] }

    var allKeys: [Key] {
        let tree = session.tree
        let given = layout.pathKeys
        let written = tree.attributeNames(of: node) + tree.children(of: node).map { tree.nodes[$0].name }
        let names = written.map(layout.key)
        var seen: Set<String> = []
        return (given.filter { place(layout.field($0)).exists } + names.filter { !given.contains($0) })
            .filter { seen.insert($0).inserted }
            .compactMap { Key(stringValue: $0) }
    }

    func contains(_ key: Key) -> Bool { place(field(key)).exists }

    func decodeNil(forKey key: Key) -> Bool {
        let place = place(field(key))
        return !place.exists || session.tree.isEmpty(place)
    }

    // MARK: - Fields

    /// Returns a key's field. Keys come in one order for every element, so the expected field is nearly always right.
    @inline(__always)
    private func field(_ key: Key) -> FieldLayout {
        let field = layout.field(key.stringValue, expectedAt: Int(session.notes[notes]))
        session.notes[notes] = Int32(truncatingIfNeeded: field.index + 1)
        return field
    }

    @inline(__always)
    private func place(_ field: FieldLayout) -> ElementPlace {
        guard let path = field.path else { return .missing }
        return session.place(of: field, path: path, in: node, notes: notes)
    }

    /// Returns the place of a value with an `init(from:)` of its own: of records, the first that is accepted.
    private func place(_ field: FieldLayout, _ layout: TypeLayout) -> ElementPlace {
        let place = place(field)
        guard let record = layout.record, place.exists, !place.isAttribute, let path = field.path else { return place }
        if record.accepts(session.view(place.node, for: record)) { return place }
        var others = FlatArray<Int32>()
        session.collect(at: path, in: node, into: &others)
        for index in 0..<others.count where others[index] != place.node {
            if record.accepts(session.view(others[index], for: record)) { return ElementPlace(node: others[index]) }
        }
        return .missing
    }

    @inline(__always)
    private func value<Value: XMLConvertible>(_ key: Key) throws -> Value {
        let field = field(key)
        return try session.value(Value.self, at: place(field), in: node, for: field)
    }

    @inline(__always)
    private func optionalValue<Value: XMLConvertible>(_ key: Key) throws -> Value? {
        let field = field(key)
        return try session.optionalValue(Value.self, at: place(field), in: node, for: field)
    }

    // MARK: - Values

    // Strings, numbers and booleans, which most members are, have no layout to look up.
    func decode<Value: Decodable & XMLConvertible>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try value(key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        let field = field(key)
        let layout = try field.layout(for: type, in: session)
        let place = place(field, layout)
        if !place.exists, let record = layout.record, self.place(field).exists {
            throw session.refusal("is not accepted by \(record)", at: self.place(field), in: node, for: field)
        }
        return try session.decode(type, at: place, in: node, for: field)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try optionalValue(key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try optionalValue(key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try optionalValue(key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try optionalValue(key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try optionalValue(key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try optionalValue(key) }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        let field = field(key)
        let layout = try field.layout(for: type, in: session)
        let place = place(field, layout)
        switch layout.kind {
        case .text: guard place.exists else { return nil }
        case .list: guard place.exists || hasWrapper(field) else { return nil }
        case .dictionary: guard place.exists || (field.path?.entryKey != nil && hasWrapper(field)) else { return nil }
        default: guard place.exists, !session.tree.isEmpty(place) else { return nil }
        }
        return try session.decode(type, at: place, in: node, for: field)
    }

    private func hasWrapper(_ field: FieldLayout) -> Bool {
        guard let wrapper = field.path?.wrapper else { return false }
        return session.firstPlace(at: wrapper, in: node).exists
    }

    // MARK: - Nested containers

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<NestedKey> {
        try decoder(field(key), as: type).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(field(key), as: Key.self).unkeyedContainer()
    }

    func superDecoder() -> any Decoder {
        ElementDecoder(
            session: session, place: ElementPlace(node: node), node: node, field: session.root, layout: layout)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(field(key), as: Key.self) }

    /// - Parameter type: stands in for the nested value's unknown type. Keys are read by the defaults.
    private func decoder(_ field: FieldLayout, as type: Any.Type) throws -> ElementDecoder {
        ElementDecoder(
            session: session, place: place(field), node: node, field: field, layout: try session.layout(for: type))
    }
}
