import XMLStream

/// What a session has learnt of one coding key of a type.
final class FieldLayout {
    let key: String
    /// Nil where the place of the value is known: a list's elements and a dictionary's values.
    let path: FieldPath?
    /// Among the fields of its type.
    let index: Int
    let transform: XMLTransform?
    let dateFormat: DateFormat?
    /// Where a container notes the first child that the path begins with; nil where it notes none.
    let slot: Int?
    @exclusivity(unchecked) private var lastLayout: TypeLayout?
    private var elementLayout: FieldLayout?

    init(
        key: String, path: FieldPath?, index: Int = 0, transform: XMLTransform? = nil, dateFormat: DateFormat? = nil,
        slot: Int? = nil
    ) {
        self.key = key
        self.path = path
        self.index = index
        self.transform = transform
        self.dateFormat = dateFormat
        self.slot = slot
    }

    /// The layout of the type that the key's value has. It is the same type again and again.
    @inline(__always)
    func layout(for type: Any.Type, in session: DecodingSession) throws -> TypeLayout {
        if let lastLayout, lastLayout.id == ObjectIdentifier(type) { return lastLayout }
        let layout = try session.layout(for: type)
        lastLayout = layout
        return layout
    }

    /// The elements of the key's list, or the values of its dictionary: transformed and read as the key's value is.
    var elements: FieldLayout {
        if path == nil { return self }
        if let elementLayout { return elementLayout }
        let layout = FieldLayout(key: key, path: nil, transform: transform, dateFormat: dateFormat)
        elementLayout = layout
        return layout
    }
}
