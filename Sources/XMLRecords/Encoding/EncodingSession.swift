import XMLStream

/// Encodes one value and all that is in it.
final class EncodingSession {
    let userInfo: [CodingUserInfoKey: any Sendable]
    private var layouts: [ObjectIdentifier: OutputLayout] = [:]
    /// The error in making a container, which cannot throw. It is thrown after the value has encoded itself.
    private var failure: (any Error)?

    init(userInfo: [CodingUserInfoKey: any Sendable]) {
        self.userInfo = userInfo
    }

    func layout(for type: Any.Type) throws -> OutputLayout {
        if let layout = layouts[ObjectIdentifier(type)] { return layout }
        let layout = try OutputLayout(type)
        layouts[ObjectIdentifier(type)] = layout
        return layout
    }

    func encode<Value: Encodable>(_ value: Value, to destination: ElementEncoder.Destination, for field: OutputField)
        throws
    {
        if let text = XMLText.text(of: value, dateFormat: field.dateFormat) {
            return try put(text, to: destination, for: field)
        }
        // For a class, this is the value's dynamic type.
        let layout = try layout(for: Swift.type(of: value))
        let encoder = ElementEncoder(session: self, destination: destination, field: field, layout: layout)
        do {
            try value.encode(to: encoder)
        } catch EncodingError.invalidValue(_, let context) {
            throw field.refusal(context.debugDescription, in: destination.element)
        }
        if let failure { throw failure }
        if layout.isSet || layout.isDictionary, let added = encoder.added {
            try added.element.sortChildren(from: added.start, by: OutputWriter.sortingText)
        }
    }

    /// Returns an element for a container; a detached one where it cannot be made.
    func element(_ make: () throws -> OutputElement) -> OutputElement {
        do {
            return try make()
        } catch {
            if failure == nil { failure = error }
            return OutputElement(name: "", field: .root)
        }
    }

    /// Returns the layout for containers that a value makes without giving their type.
    func layout(forKeys type: Any.Type) -> OutputLayout {
        if let layout = layouts[ObjectIdentifier(type)] { return layout }
        let layout = OutputLayout(keys: type)
        layouts[ObjectIdentifier(type)] = layout
        return layout
    }

    func put(_ text: String, to destination: ElementEncoder.Destination, for field: OutputField) throws {
        var text = text
        if let transform = field.transform {
            do {
                text = try transform.encode(text)
            } catch {
                throw field.refusal("cannot be transformed: \(error)", value: text, in: destination.element)
            }
        }
        try check(text, for: field, in: destination.element)
        switch destination {
        case .element(let element): element.text = text
        case .field(let parent): try parent.set(text, at: field)
        }
    }

    /// - Throws: ``XMLRecordError`` if a text has a character that XML cannot hold.
    func check(_ text: String, for field: OutputField, in element: OutputElement) throws {
        guard let character = XMLText.forbidden(in: text) else { return }
        throw field.refusal("the character \(XMLText.code(of: character)) cannot be written in XML", in: element)
    }
}
