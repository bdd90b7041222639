import XMLStream

/// Encodes one value with its own `encode(to:)`.
final class ElementEncoder: Encoder {
    enum Destination {
        /// The element itself.
        case element(OutputElement)
        /// The end of the field's path from this element, to be found once the kind of value is known.
        case field(OutputElement)

        /// The element that messages name.
        var element: OutputElement {
            switch self {
            case .element(let element), .field(let element): element
            }
        }
    }

    private let session: EncodingSession
    private let destination: Destination
    private let field: OutputField
    private let layout: OutputLayout
    /// The element that holds the list's elements or the dictionary's entries, and the index of the first.
    private(set) var added: (element: OutputElement, start: Int)?

    init(session: EncodingSession, destination: Destination, field: OutputField, layout: OutputLayout) {
        self.session = session
        self.destination = destination
        self.field = field
        self.layout = layout
    }

    var codingPath: [any CodingKey] { field.key.isEmpty ? [] : [ElementKey(field.key)] }
    var userInfo: [CodingUserInfoKey: Any] { session.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        guard layout.isDictionary else {
            return KeyedEncodingContainer(
                ElementKeyedEncodingContainer<Key>(session: session, element: ownElement(), layout: layout))
        }
        let key = field.path.entryKey
        let element = key == nil ? ownElement() : holder()
        added = (element, element.children.count)
        return KeyedEncodingContainer(
            EntryEncodingContainer<Key>(session: session, element: element, field: field, attribute: key?.description))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        let element = session.element {
            guard !layout.isDictionary else {
                throw field.refusal(
                    "a dictionary's keys are strings, integers or CodingKeyRepresentable", in: destination.element)
            }
            return holder()
        }
        added = (element, element.children.count)
        return ElementListEncodingContainer(session: session, element: element, field: field, isNamed: isPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer {
        ElementValueEncodingContainer(session: session, destination: destination, field: field)
    }

    // MARK: - Elements

    /// True if the elements of a list have the name at the end of the field's path.
    private var isPath: Bool {
        if case .field = destination { return !field.path.steps.isEmpty }
        return false
    }

    /// Returns the element that a record's members are written to.
    private func ownElement() -> OutputElement {
        session.element {
            try checkIsNotAttribute()
            let element =
                if case .field(let parent) = destination { try parent.element(at: field) } else { destination.element }
            element.namespaces.merge(layout.rules.namespaces) { first, _ in first }
            return element
        }
    }

    /// Returns the element that a list's elements are written to.
    private func holder() -> OutputElement {
        session.element {
            try checkIsNotAttribute()
            guard case .field(let parent) = destination else { return destination.element }
            return try parent.wrapper(at: field)
        }
    }

    private func checkIsNotAttribute() throws {
        guard case .field = destination, case .attribute(_) = field.path.target else { return }
        throw field.refusal("its path leads to an attribute, which holds one text", in: destination.element)
    }
}

/// Writes the single value at a place.
struct ElementValueEncodingContainer: SingleValueEncodingContainer {
    let session: EncodingSession
    let destination: ElementEncoder.Destination
    let field: OutputField

    var codingPath: [any CodingKey] { [] }

    /// Writes nothing for nil. For an element of a list, the empty element exists already.
    func encodeNil() {}

    func encode<Value: Encodable>(_ value: Value) throws {
        try session.encode(value, to: destination, for: field)
    }
}

/// A container whose nested values are written by encoders of their own.
protocol MemberEncodingContainer: KeyedEncodingContainerProtocol {
    /// - Parameter type: stands in for the nested value's unknown type. It is written by the defaults.
    func encoder(_ key: Key, _ type: Any.Type) -> ElementEncoder
}

extension MemberEncodingContainer {
    var codingPath: [any CodingKey] { [] }

    func nestedContainer<NestedKey: CodingKey>(
        keyedBy type: NestedKey.Type, forKey key: Key
    ) -> KeyedEncodingContainer<NestedKey> {
        encoder(key, NestedKey.self).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        encoder(key, Key.self).unkeyedContainer()
    }

    func superEncoder(forKey key: Key) -> any Encoder { encoder(key, Key.self) }
}

/// Writes the members of a record, each at its path.
struct ElementKeyedEncodingContainer<Key: CodingKey>: MemberEncodingContainer {
    let session: EncodingSession
    let element: OutputElement
    let layout: OutputLayout

    /// Writes nothing for nil.
    func encodeNil(forKey key: Key) {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try session.encode(value, to: .field(element), for: layout.field(key.stringValue))
    }

    func superEncoder() -> any Encoder {
        ElementEncoder(session: session, destination: .element(element), field: .root, layout: layout)
    }

    func encoder(_ key: Key, _ type: Any.Type) -> ElementEncoder {
        ElementEncoder(
            session: session, destination: .field(element), field: layout.field(key.stringValue),
            layout: session.layout(forKeys: type))
    }
}
