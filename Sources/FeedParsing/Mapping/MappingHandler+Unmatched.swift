import FeedConfiguration
package import FeedModel
package import XMLStream

/// The parts of a document that no record or column takes.
extension MappingHandler {
    /// The outermost elements that are no records, give no value, and hold no element that is or does.
    var unused: [PathNode] {
        func find(_ node: PathNode) -> [PathNode] {
            node.isUsed ? node.children.flatMap(find) : [node]
        }
        return root.children.flatMap(find)
    }

    /// The first paths of elements in the document, in order of appearance.
    var elements: [String] {
        var paths: [String] = []
        forEachPath(upTo: Self.longestNoted) { _, path in
            if paths.count < 8 { paths.append(path) }
            return paths.count < 8
        }
        return paths
    }

    /// The most paths of each kind that a plan notes, and the most bytes of one.
    package static let mostNoted = 10_000
    static let longestNoted = 1_000

    /// Passes each path of at most so many bytes to `body`, a parent before its children. No longer path is made: names
    /// may have 1,000 bytes, and paths 1,000 names.
    ///
    /// - Parameter body: returns false to leave out what is below the path.
    private func forEachPath(upTo longest: Int, _ body: (PathNode, String) -> Bool) {
        func visit(_ node: PathNode, in parent: String) {
            guard parent.utf8.count + 1 + node.name.qualified.utf8.count <= longest else { return }
            let path = "\(parent)/\(node.name.qualified)"
            if body(node, path) { for child in node.children { visit(child, in: path) } }
        }
        for child in root.children { visit(child, in: "") }
    }

    /// Returns the elements that are no records, and the elements and attributes that no column takes.
    ///
    /// - Parameter captured: the paths from the root that captures and pages read.
    package func unmatchedElements(request: String, captured: [XMLPath]) -> [UnmatchedPath] {
        var found: [UnmatchedPath] = []
        forEachPath(upTo: Self.longestNoted) { node, path in
            guard !node.isCollected, found.count < Self.mostNoted else { return false }
            let leading = captured.filter(node.leads(to:))
            let ending = leading.filter(node.ends)
            let isUsed = node.isUsed || !leading.isEmpty
            if !isUsed { found.append(.init(request: request, path: path, count: node.count)) }
            for (name, count) in node.ignoredAttributes.sorted(by: { $0.key < $1.key }) where isUsed {
                let isCaptured = ending.contains {
                    if case .attribute(let test) = $0.target { test.description == name } else { false }
                }
                if !isCaptured { found.append(.init(request: request, path: path + "/@" + name, count: count)) }
            }
            return isUsed && !ending.contains { $0.target == .deepText }
        }
        return found
    }

    /// The paths of the elements that are records, give a value, or hold an element that is or does.
    package var usedElements: [String] {
        var paths: [String] = []
        forEachPath(upTo: Self.longestNoted) { node, path in
            guard node.isUsed, paths.count < Self.mostNoted else { return false }
            paths.append(path)
            return true
        }
        return paths
    }

    /// The columns, as `table.column`, for which a record had a value.
    package var filledColumns: [String] {
        layouts.flatMap { layout in
            layout.slots.indices.filter(layout.isFound).map {
                "\(layout.mapping.table).\(layout.slots[$0].column.name)"
            }
        }
    }

    /// Returns the columns for which no record had a value, of tables with records.
    package func unmatchedColumns(request: String) -> [UnmatchedPath] {
        layouts.filter(\.hasReadRecords).flatMap { layout in
            layout.slots.indices.filter { slot in
                let column = layout.slots[slot].column.name
                guard column != TableMapping.deletionColumn else { return false }
                return !layout.slots.indices.contains { layout.isFound($0) && layout.slots[$0].column.name == column }
            }.map {
                .init(
                    request: request, path: "\(layout.mapping.table).\(layout.slots[$0].column.name)",
                    count: layout.records)
            }
        }
    }

    /// The paths and columns of the document, for the comparison with others. Each distinct path is built once.
    package var shape: DocumentShape {
        var shape = DocumentShape()
        forEachPath(upTo: RequestShape.longestPath) { node, path in
            guard shape.unmapped.count <= RequestShape.mostPaths else { return false }
            guard node.isUsed else {
                shape.unmapped.insert(path)
                return false
            }
            if shape.mapped.count <= RequestShape.mostPaths { shape.mapped.insert(path) }
            return !node.isCollected
        }
        for layout in layouts where layout.hasReadRecords {
            for (index, slot) in layout.slots.enumerated() where slot.isRead {
                let column = "\(layout.mapping.table).\(slot.column.name)"
                if layout.isFound(index) { shape.filled.insert(column) } else { shape.empty.insert(column) }
                if layout.furtherValues.contains(index) { shape.repeated.insert(column) }
            }
        }
        shape.empty.subtract(shape.filled)
        return shape
    }

    /// A hash of the paths of the document's elements, for comparisons within this process.
    package var pathsHash: Int {
        var hasher = Hasher()
        func visit(_ node: PathNode) {
            hasher.combine(node.depth)
            hasher.combine(node.name.qualified)
            for child in node.children { visit(child) }
        }
        hasher.combine(rootIsText)
        for child in root.children { visit(child) }
        return hasher.finalize()
    }

    /// The first paths of the document's elements, and those of them that hold no element. The text of a root that holds none
    /// has a path of its own.
    package var elementPaths: (all: Set<String>, ends: Set<String>) {
        if rootIsText, let root = root.children.first {
            let path: Set = ["/\(root.name.qualified)/text()"]
            return (path, path)
        }
        var (all, ends): (Set<String>, Set<String>) = ([], [])
        forEachPath(upTo: RequestShape.longestPath) { node, path in
            guard all.count < RequestShape.mostPaths else { return false }
            all.insert(path)
            if node.children.isEmpty { ends.insert(path) }
            return true
        }
        return (all, ends)
    }

    func noteAttributes(of node: PathNode, _ stream: XMLStreamParser) {
        stream.attributesOfElement.forEach { _, name, _ in
            let isTaken = (node.atStart + (node.attributeCaptures?.captures ?? [])).contains { capture in
                switch capture.what {
                case .attribute(let test): test.matches(name)
                case .attributesByName: capture.record.slot(named: XMLName.folded(name.local)) != nil
                default: false
                }
            }
            let isInherited = layouts.contains { layout in
                layout.slots.contains { slot in
                    if case .path(let path) = slot.source, path.steps.isEmpty, case .attribute(let test) = path.target {
                        path.ups > 0 && test.matches(name)
                    } else {
                        false
                    }
                }
            }
            guard !isTaken, !isInherited else { return }
            if let count = node.ignoredAttributes[name.qualified] {
                node.ignoredAttributes[name.qualified] = count + 1
            } else if notedAttributes < Self.mostNoted {
                notedAttributes += 1
                node.ignoredAttributes[name.qualified] = 1
            }
        }
    }
}
