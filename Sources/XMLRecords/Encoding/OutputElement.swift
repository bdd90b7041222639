import XMLStream

/// An element under construction, with everything that a value has encoded so far.
final class OutputElement {
    struct Attribute {
        let name: String
        var value: String
        var field: OutputField
    }

    let name: String
    /// The key for which it was made. It gives the place among siblings, and the name in messages.
    private(set) var field: OutputField
    /// True for an element made on the way to another. It may still become the element of a value.
    private(set) var isWrapper = false
    var text = ""
    var namespaces: [String: String] = [:]
    private(set) var attributes: [Attribute] = []
    private(set) var children: [OutputElement] = []

    init(name: String, field: OutputField) {
        self.name = name
        self.field = field
    }

    /// Adds a child.
    func add(_ name: String, for field: OutputField) -> OutputElement {
        let child = OutputElement(name: name, field: field)
        children.append(child)
        return child
    }

    /// Adds the next of a list's elements or a dictionary's entries, named by the end of the path.
    func addElement(of field: OutputField) throws -> OutputElement {
        guard let last = field.path.steps.last else { return self }
        return try add(last, field, isEntry: field.path.entryKey != nil)
    }

    /// Returns the element at the end of a field's path, made if necessary.
    func element(at field: OutputField) throws -> OutputElement {
        guard let last = field.path.steps.last else { return self }
        let parent = try wrapper(at: field)
        if let made = try parent.find(last, field), made.isWrapper {
            made.isWrapper = false
            made.promote(field)
            return made
        }
        return try parent.add(last, field)
    }

    /// Returns the parent of the element at the end of a field's path.
    func wrapper(at field: OutputField) throws -> OutputElement {
        try field.path.steps.dropLast().reduce(self) { try $0.wrapper($1, field) }
    }

    func set(_ name: String, to value: String, for field: OutputField) {
        if let index = attributes.firstIndex(where: { $0.name == name }) {
            attributes[index].value = value
            attributes[index].field = field
        } else {
            attributes.append(Attribute(name: name, value: value, field: field))
        }
    }

    /// Sets an attribute where a path leads to one.
    func set(_ text: String, at field: OutputField) throws {
        guard case .attribute(let attribute) = field.path.target else {
            try element(at: field).text = text
            return
        }
        let element = try field.path.steps.reduce(self) { try $0.wrapper($1, field) }
        element.set(attribute.description, to: text, for: field)
    }

    func sortChildren(from start: Int, by text: (OutputElement) throws -> String) rethrows {
        let sorted = try children[start...].map { (try text($0), $0) }.sorted { $0.0 < $1.0 }
        children.replaceSubrange(start..., with: sorted.map(\.1))
    }

    // MARK: - Steps

    private func wrapper(_ step: XMLPath.Step, _ field: OutputField) throws -> OutputElement {
        if let made = try find(step, field) {
            made.promote(field)
            return made
        }
        let wrapper = try add(step, field)
        wrapper.isWrapper = true
        return wrapper
    }

    /// - Parameter isEntry: true if the caller sets the attribute of the last predicate.
    private func add(_ step: XMLPath.Step, _ field: OutputField, isEntry: Bool = false) throws -> OutputElement {
        guard step.test != .any else { throw field.refusal("'*' in its path has no name to be written", in: self) }
        var step = step
        if isEntry { step.predicates.removeLast() }
        let child = add(step.test.description, for: field)
        for (name, value) in try attributes(of: step, field) { child.set(name, to: value, for: field) }
        return child
    }

    private func find(_ step: XMLPath.Step, _ field: OutputField) throws -> OutputElement? {
        let wanted = try attributes(of: step, field)
        return children.first { child in
            child.name == step.test.description
                && wanted.allSatisfy { pair in
                    child.attributes.contains { $0.name == pair.name && $0.value == pair.value }
                }
        }
    }

    /// Returns the attributes that a step's predicates require.
    private func attributes(
        of step: XMLPath.Step, _ field: OutputField
    ) throws -> [(name: String, value: String)] {
        try step.predicates.map { predicate in
            guard case .equals(let value) = predicate.condition else {
                throw field.refusal("a predicate in its path does not say what is to be written", in: self)
            }
            return (predicate.attribute.description, value)
        }
    }

    /// Moves the element to the place of the first of its keys.
    private func promote(_ field: OutputField) {
        if field.rank < self.field.rank { self.field = field }
    }
}
