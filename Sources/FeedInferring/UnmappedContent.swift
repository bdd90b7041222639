import XMLStream

/// The elements and attributes of a document that no proposed table has: those around its records, and empty ones that
/// repeat.
struct UnmappedContent {
    private var texts: Set<ObjectIdentifier> = []
    private var markup: Set<ObjectIdentifier> = []
    private var attributes: [ObjectIdentifier: Set<ElementProfile.Identity>] = [:]

    /// - Parameter tables: the tables with their columns.
    init(_ tables: [ProposedTable]) {
        for table in tables {
            if let day = table.day { attributes[ObjectIdentifier(day.holder), default: []].insert(day.name.identity) }
            for value in table.values {
                let holder = ObjectIdentifier(value.holder)
                if let attribute = value.attribute {
                    attributes[holder, default: []].insert(attribute.identity)
                } else if value.isProse {
                    markup.insert(holder)
                } else {
                    texts.insert(holder)
                }
            }
        }
    }

    /// Returns a line with the first paths; no line without one.
    func line(below root: ElementProfile) -> [String] {
        var paths = PathList()
        collect(root, root.name.bare, &paths)
        return paths.line("Not mapped:")
    }

    private func collect(_ element: ElementProfile, _ path: String, _ paths: inout PathList) {
        let identity = ObjectIdentifier(element)
        guard !markup.contains(identity) else { return }
        let mapped = attributes[identity] ?? []
        for attribute in element.data where !mapped.contains(attribute.name.identity) {
            paths.append("\(path)/@\(attribute.name.local)")
        }
        // An element without a column that has only attributes is where they are.
        let isNothingElse = element.isLeaf && element.data.isEmpty
        if !texts.contains(identity), element.text.filled > 0 || isNothingElse || element.isProse { paths.append(path) }
        guard !element.isProse else { return }
        for child in element.children { collect(child, "\(path)/\(child.name.bare)", &paths) }
    }
}
