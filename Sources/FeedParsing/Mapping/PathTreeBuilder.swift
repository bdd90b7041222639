import FeedConfiguration
import XMLStream

/// Determines, once for each distinct path of a document, which records begin there and which values are taken.
struct PathTreeBuilder {
    let layouts: [RecordLayout]
    /// The names of elements whose position a path asks for.
    private let counted: [XMLPath.NameTest]

    init(layouts: [RecordLayout]) {
        self.layouts = layouts
        let paths = layouts.flatMap { layout in
            [layout.mapping.element]
                + layout.slots.compactMap { if case .path(let path) = $0.source { path } else { nil } }
        }
        counted = paths.flatMap(\.steps).filter { $0.position != nil }.map(\.test)
    }

    /// Returns true if a path asks for the position of elements of this name.
    func counts(_ name: XMLName) -> Bool { counted.contains { $0.matches(name) } }

    /// Records on a new node the meaning of its path for each layout.
    func complete(_ node: PathNode) {
        let names = node.names[...]
        for layout in layouts {
            if let conditions = Self.match(layout.mapping.element, names) {
                node.records.append(PathNode.Start(layout: layout, conditions: conditions))
            }
            for slot in layout.slots.indices { capture(layout, slot, node, names) }
            if layout.slots.contains(where: { if case .name = $0.source { true } else { false } }),
                Self.match(layout.mapping.element, names) != nil
            {
                node.atStart.append(
                    .init(
                        record: layout, slot: 0, depth: node.depth, isInherited: false, what: .attributesByName,
                        conditions: []))
            }
        }
        node.isIdle = node.records.isEmpty && node.atStart.isEmpty && node.atEnd.isEmpty
        if node.records.isEmpty, node.atStart.isEmpty, node.atEnd.count == 1, let capture = node.atEnd.first,
            !capture.isInherited, capture.conditions.isEmpty
        {
            node.leaf = .init(
                layout: Unmanaged.passUnretained(capture.record), slot: capture.slot, depth: capture.depth)
        }
        gatherAttributes(node)
    }

    private func gatherAttributes(_ node: PathNode) {
        func takesAttribute(_ capture: PathNode.Capture) -> Bool {
            guard case .attribute = capture.what else { return false }
            return capture.conditions.isEmpty
        }
        let captures = node.atStart.filter(takesAttribute)
        guard captures.count >= AttributeCaptures.fewest else { return }
        node.atStart.removeAll(where: takesAttribute)
        node.attributeCaptures = AttributeCaptures(captures)
    }

    private func capture(_ layout: RecordLayout, _ index: Int, _ node: PathNode, _ names: ArraySlice<XMLName>) {
        let slot = layout.slots[index]
        switch slot.source {
        case .parent, .ordinal, .relation, .record, .given, .expression:
            return
        case .name(let folded):
            guard names.count > 1, XMLName.folded(node.name.local) == folded,
                Self.match(layout.mapping.element, names.dropLast()) != nil
            else { return }
            node.atEnd.append(
                .init(
                    record: layout, slot: index, depth: node.depth - 1, isInherited: false, what: .text, conditions: [])
            )
        case .path(let path):
            let base = names.count - path.steps.count
            guard base >= 0, let conditions = Self.match(path.steps, names[base...], from: base) else { return }
            let isInherited = path.isAbsolute || path.ups > 0
            if isInherited {
                // An attribute of an open element is read when the record ends.
                if path.steps.isEmpty, case .attribute = path.target { return }
                guard
                    path.isAbsolute
                        ? base == 0 || path.isAnywhere
                        : Self.mayHold(layout.mapping.element, base: names[..<base], ups: path.ups)
                else { return }
            } else {
                guard base > 0, Self.match(layout.mapping.element, names[..<base]) != nil else { return }
            }
            let what: PathNode.Capture.What =
                switch path.target {
                case .attribute(let test): .attribute(test)
                case _ where slot.isMarkup: .markup
                case .deepText: .deepText
                case .text: .text
                }
            let capture = PathNode.Capture(
                record: layout, slot: index, depth: path.isAbsolute ? 0 : base, isInherited: isInherited, what: what,
                conditions: conditions)
            if case .text = what { node.atEnd.append(capture) } else { node.atStart.append(capture) }
        }
    }

    /// Returns the conditions that remain to be met where a path of names matches an element pattern;
    /// else nil.
    static func match(_ pattern: XMLPath, _ names: ArraySlice<XMLName>) -> [PathNode.Condition]? {
        let base = names.count - pattern.steps.count
        guard pattern.isAbsolute ? base == 0 : base >= 0 else { return nil }
        return match(pattern.steps, names.suffix(pattern.steps.count), from: base)
    }

    private static func match(_ steps: [XMLPath.Step], _ names: ArraySlice<XMLName>, from base: Int) -> [PathNode
        .Condition]?
    {
        guard zip(steps, names).allSatisfy({ $0.test.matches($1) }) else { return nil }
        return steps.enumerated().compactMap { index, step in
            step.position == nil && step.predicates.isEmpty
                ? nil
                : PathNode.Condition(depth: base + index + 1, position: step.position, predicates: step.predicates)
        }
    }

    /// True if records of the pattern may be `ups` elements below an element of this path.
    private static func mayHold(_ pattern: XMLPath, base names: ArraySlice<XMLName>, ups: Int) -> Bool {
        let above = pattern.steps.dropLast(ups)
        if pattern.isAbsolute {
            return above.count == names.count && zip(above, names).allSatisfy { $0.test.matches($1) }
        }
        return zip(above.reversed(), names.reversed()).allSatisfy { $0.test.matches($1) }
    }
}
