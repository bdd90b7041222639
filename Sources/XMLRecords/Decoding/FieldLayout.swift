import XMLStream

/// A session's knowledge of one coding key of a type.
final class FieldLayout {
    let key: String
    /// The path of the value. Nil if its place is known already: a list's elements and a dictionary's values.
    let path: FieldPath?
    /// The index among the fields of its type.
    let index: Int
    let transform: XMLTransform?
    let dateFormat: DateFormat?
    /// The slot in which a container notes the first child that the path begins with; nil if it notes none.
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

    /// Returns the layout of the type of the key's value, which is the same type nearly every time.
    @inline(__always)
    func layout(for type: Any.Type, in session: DecodingSession) throws -> TypeLayout {
        if let lastLayout, lastLayout.id == ObjectIdentifier(type) { return lastLayout }
        let layout = try session.layout(for: type)
        lastLayout = layout
        return layout
    }

    /// The field of the key's list elements or dictionary values: transformed and read as the key's value is.
    var elements: FieldLayout {
        if path == nil { return self }
        if let elementLayout { return elementLayout }
        let layout = FieldLayout(key: key, path: nil, transform: transform, dateFormat: dateFormat)
        elementLayout = layout
        return layout
    }
}
