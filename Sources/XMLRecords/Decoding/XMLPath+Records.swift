import XMLStream

extension XMLPath {
    /// Parses a path as records write it. It begins below the record's own element, and prefixes need not be bound: those
    /// that are not in ``XMLRecord/xmlNamespaces`` are the document's.
    static func ofRecord(_ text: String) throws -> XMLPath {
        var prefixes: [String: String] = [:]
        for part in text.split(whereSeparator: { "/@[]='\"! ".contains($0) }) {
            if let colon = part.firstIndex(of: ":") { prefixes[String(part[..<colon])] = String(part[..<colon]) }
        }
        let path = try XMLPathParser.parse(text, namespaces: prefixes)
        var problem: String?
        if path.isAbsolute || path.ups > 0 { problem = "a record's path begins at its own element" }
        if path.target == .deepText { problem = "the text of an element's children is not kept" }
        if text.contains("{}") {
            problem = "'{}' is for mappings; a name without a prefix is one that the document writes without one"
        }
        if path.target == .attribute(.any) { problem = "an attribute needs a name" }
        if path.steps.contains(where: { $0.predicates.contains { $0.attribute == .any } }) {
            problem = "the attribute of a predicate needs a name"
        }
        if path.steps.contains(where: { $0.position != nil }) { problem = "a position is for mappings" }
        if let problem { throw XMLRecordError(reason: "'\(text)' is not a record's path: \(problem)") }
        return path
    }

    /// Returns the path of a key for which a type names none: the element of its name. The value of an enumeration case
    /// without a label is the content of the case's element.
    static func ofKey(_ key: String) -> XMLPath {
        key == "_0" ? XMLPath() : XMLPath(steps: [Step(test: .local(key))])
    }

    /// The name of the attribute at the end of the path, if it is an attribute of the record's own element.
    var ownAttribute: String? {
        guard steps.isEmpty, case .attribute(let name) = target else { return nil }
        return name.description
    }

    /// The attribute that holds a dictionary's keys: the one in the predicate at the end of `entry[@key]`.
    var entryKey: NameTest? {
        guard target == .text, let last = steps.last?.predicates.last, last.condition == .exists else { return nil }
        return last.attribute
    }
}
