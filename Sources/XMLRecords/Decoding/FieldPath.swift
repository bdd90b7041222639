import XMLStream

/// A record's path, with a session's numbers for its names.
struct FieldPath {
    struct Predicate {
        let attribute: Int32
        let condition: XMLPath.Predicate.Condition
    }

    struct Step {
        /// A value instead of a name's number: any name.
        static let anyName: Int32 = -1

        let name: Int32
        let predicates: [Predicate]
    }

    /// The form of a path. Most have a simple one, which is determined once and not for every value.
    enum Form {
        /// The attribute of this name, or else the child element.
        case attributeOrChild(Int32)
        case attribute(Int32)
        case child(Int32)
        /// The element itself: its own text, or its content.
        case own
        case steps
    }

    /// The path as it was written, or the key where its type names no path.
    let text: String
    let form: Form
    let steps: [Step]
    /// The attribute of the element at the end of the steps; nil for the element itself.
    let attribute: Int32?
    /// The attribute that keys a dictionary's entries.
    let entryKey: Int32?

    init(_ path: XMLPath, text: String, names: ElementNames) {
        self.text = text
        steps = path.steps.map { step in
            Step(
                name: step.test == .any ? Step.anyName : names.number(of: step.test.description),
                predicates: step.predicates.map {
                    Predicate(attribute: names.number(of: $0.attribute.description), condition: $0.condition)
                })
        }
        attribute = if case .attribute(let name) = path.target { names.number(of: name.description) } else { nil }
        entryKey = path.entryKey.map { names.number(of: $0.description) }
        let isPlain = steps.count == 1 && steps[0].predicates.isEmpty && steps[0].name != Step.anyName
        form =
            switch (steps.count, attribute) {
            case (0, nil): .own
            case (0, let attribute?): .attribute(attribute)
            case (1, nil) where isPlain: .child(steps[0].name)
            default: .steps
            }
    }

    /// Creates the path of a key for which its type names none.
    ///
    /// - Parameter isAttribute: true if the key may mean an attribute of its name; false where that is another key's.
    init(key: String, isAttribute: Bool, names: ElementNames) {
        let path = FieldPath(.ofKey(key), text: key, names: names)
        text = key
        steps = path.steps
        attribute = nil
        entryKey = nil
        form = if isAttribute, case .child(let name) = path.form { .attributeOrChild(name) } else { path.form }
    }

    /// The path of the elements that hold a list's elements; nil where the record itself holds them.
    var wrapper: FieldPath? { steps.count > 1 ? FieldPath(text: text, steps: Array(steps.dropLast())) : nil }

    private init(text: String, steps: [Step]) {
        self.text = text
        self.steps = steps
        attribute = nil
        entryKey = nil
        form = .steps
    }
}
