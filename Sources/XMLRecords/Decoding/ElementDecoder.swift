import XMLStream

/// Decodes the value at one place with the value's own `init(from:)`.
///
/// Valid until that returns, as are its containers, because the next record is built in the same memory.
struct ElementDecoder: Decoder {
    let session: DecodingSession
    let place: ElementPlace
    /// The element that the field belongs to.
    let node: Int32
    let field: FieldLayout
    /// The layout of the type that is decoded.
    let layout: TypeLayout

    var codingPath: [any CodingKey] { field === session.root ? [] : [ElementKey(field.key)] }
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        if case .dictionary = layout.kind { return try entries(keyedBy: type) }
        guard place.exists else { throw session.missing(field, in: node) }
        guard !place.isAttribute else {
            throw session.refusal(DecodingSession.notARecord, at: place, in: node, for: field)
        }
        return KeyedDecodingContainer(ElementKeyedContainer<Key>(session: session, node: place.node, layout: layout))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        if case .dictionary = layout.kind {
            let reason =
                "a dictionary's keys are strings, integers or CodingKeyRepresentable, which \(layout.type)'s are not"
            throw session.refusal(reason, at: place, in: node, for: field)
        }
        let start = session.notes.count
        if let path = field.path, !path.steps.isEmpty, path.attribute == nil {
            session.collect(at: path, in: node, into: &session.notes)
        } else if place.exists, !place.isAttribute {
            for child in session.tree.children(of: place.node) { session.notes.append(child) }
        }
        if place.isAttribute, session.notes.count == start {
            let reason = "is an attribute, which holds one value and not a list"
            throw session.refusal(reason, at: place, in: node, for: field)
        }
        return ElementListContainer(
            session: session, node: node, field: field.elements, range: try accepted(start..<session.notes.count))
    }

    func singleValueContainer() -> any SingleValueDecodingContainer {
        ElementValueContainer(session: session, place: place, node: node, field: field)
    }

    /// Moves the elements that the records of a list or dictionary accept to the front, and returns their range.
    private func accepted(_ range: Range<Int>) throws -> Range<Int> {
        let type: Any.Type
        switch layout.kind {
        case .list(let element): type = element
        case .dictionary(let value): type = value
        default: return range
        }
        guard let record = try session.layout(for: type).record else { return range }
        var end = range.lowerBound
        for index in range where record.accepts(session.view(session.notes[index], for: record)) {
            session.notes[end] = session.notes[index]
            end += 1
        }
        return range.lowerBound..<end
    }

    private func entries<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard !place.isAttribute else {
            throw session.refusal(DecodingSession.notARecord, at: place, in: node, for: field)
        }
        let start = session.notes.count
        let key = field.path?.entryKey
        if let path = field.path, key != nil {
            session.collect(at: path, in: node, into: &session.notes)
        } else if place.exists {
            for child in session.tree.children(of: place.node) { session.notes.append(child) }
        }
        return KeyedDecodingContainer(
            EntryContainer<Key>(
                session: session, node: place.exists ? place.node : node, field: field.elements,
                nodes: try accepted(start..<session.notes.count), attribute: key))
    }
}

/// The single value at a place.
struct ElementValueContainer: SingleValueDecodingContainer {
    let session: DecodingSession
    let place: ElementPlace
    /// The element that the field belongs to.
    let node: Int32
    let field: FieldLayout

    var codingPath: [any CodingKey] { field === session.root ? [] : [ElementKey(field.key)] }

    func decodeNil() -> Bool { !place.exists || session.tree.isEmpty(place) }

    // Strings, numbers and booleans have no layout to look up.
    func decode<Value: Decodable & XMLConvertible>(_ type: Value.Type) throws -> Value {
        try session.value(type, at: place, in: node, for: field)
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try session.decode(type, at: place, in: node, for: field)
    }
}
