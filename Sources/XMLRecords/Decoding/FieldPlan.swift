import XMLStream

/// What a session has learnt of one coding key of a type.
final class FieldPlan {
    let key: String
    /// Nil where the place of the value is known: a list's elements and a dictionary's values.
    let path: FieldPath?
    /// Among the fields of its type.
    let index: Int
    let transform: XMLTransform?
    let dateFormat: DateFormat?
    /// Where a container notes the first child that the path begins with; nil where it notes none.
    let slot: Int?
    @exclusivity(unchecked) private var lastPlan: TypePlan?
    private var elementPlan: FieldPlan?

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

    /// The plan of the type that the key's value has. It is the same type again and again.
    @inline(__always)
    func plan(for type: Any.Type, in session: DecodingSession) throws -> TypePlan {
        if let lastPlan, lastPlan.id == ObjectIdentifier(type) { return lastPlan }
        let plan = try session.plan(for: type)
        lastPlan = plan
        return plan
    }

    /// The elements of the key's list, or the values of its dictionary: transformed and read as the key's value is.
    var elements: FieldPlan {
        if path == nil { return self }
        if let elementPlan { return elementPlan }
        let plan = FieldPlan(key: key, path: nil, transform: transform, dateFormat: dateFormat)
        elementPlan = plan
        return plan
    }
}
