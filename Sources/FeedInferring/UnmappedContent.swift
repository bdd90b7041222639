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
        collect(root, root.name.local, &paths)
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
        for child in element.children { collect(child, "\(path)/\(child.name.local)", &paths) }
    }
}

/// Paths for a comment: the first of them, and the number of all.
struct PathList {
    private var first: [String] = []
    private var count = 0
    private static let shown = 10

    mutating func append(_ path: String) {
        count += 1
        if first.count < Self.shown { first.append(path) }
    }

    /// Returns a line with the paths; no line without one.
    func line(_ what: String) -> [String] {
        guard count > 0 else { return [] }
        let rest = count - first.count
        return ["\(what) \(first.joined(separator: ", "))" + (rest > 0 ? " and \(rest.grouped) more." : ".")]
    }
}
