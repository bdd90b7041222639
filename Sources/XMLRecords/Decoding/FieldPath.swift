import XMLStream

/// A record's path, with a session's numbers for its names.
struct FieldPath {
    struct Predicate {
        let attribute: ElementName
        let condition: XMLPath.Predicate.Condition
    }

    struct Step {
        let name: ElementName
        let predicates: [Predicate]
    }

    /// The form of a path. Most have a simple one, which is determined once and not for every value.
    enum Form {
        /// The attribute of this name, or else the child element.
        case attributeOrChild(ElementName)
        case attribute(ElementName)
        case child(ElementName)
        /// The element itself: its own text, or its content.
        case own
        case steps
    }

    /// The path as it was written, or the key where its type names no path.
    let text: String
    let form: Form
    let steps: [Step]
    /// The attribute of the element at the end of the steps; nil for the element itself.
    let attribute: ElementName?
    /// The attribute that keys a dictionary's entries.
    let entryKey: ElementName?

    /// - Parameter namespaces: the namespaces of the prefixes that stand for one.
    init(_ path: XMLPath, text: String, names: ElementNames, namespaces: [String: String]) {
        func ofAttribute(_ test: XMLPath.NameTest) -> ElementName {
            names.name(test.description, namespaces, isAttribute: true)
        }
        self.text = text
        steps = path.steps.map { step in
            Step(
                name: step.test == .any ? .any : names.name(step.test.description, namespaces),
                predicates: step.predicates.map {
                    Predicate(attribute: ofAttribute($0.attribute), condition: $0.condition)
                })
        }
        attribute = if case .attribute(let name) = path.target { ofAttribute(name) } else { nil }
        entryKey = path.entryKey.map(ofAttribute)
        let isPlain = steps.count == 1 && steps[0].predicates.isEmpty && steps[0].name != .any
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
    /// - Parameter isAttribute: true if the key may mean an attribute of its name; false if that is another key's.
    init(key: String, isAttribute: Bool, names: ElementNames, namespaces: [String: String]) {
        let path = FieldPath(.ofKey(key), text: key, names: names, namespaces: namespaces)
        text = key
        steps = path.steps
        attribute = nil
        entryKey = nil
        form = if isAttribute, case .child(let name) = path.form { .attributeOrChild(name) } else { path.form }
    }

    /// The path of the elements that hold a list's elements; nil if the record itself holds them.
    var wrapper: FieldPath? { steps.count > 1 ? FieldPath(text: text, steps: Array(steps.dropLast())) : nil }

    private init(text: String, steps: [Step]) {
        self.text = text
        self.steps = steps
        attribute = nil
        entryKey = nil
        form = .steps
    }
}
