import XMLStream

/// Follows paths through the tree.
extension DecodingSession {
    /// Notes the first child for each name that begins a path of the type, and the position reached among its keys.
    ///
    /// - Returns: the index at which the notes begin.
    @inline(__always)
    func noteChildren(of node: Int32, for layout: TypeLayout) -> Int {
        let start = notes.count
        notes.append(0)
        notes.append(Int32(layout.slotCount))
        notes.append(repeating: ElementTree.none, count: layout.slotCount)
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            note(child, layout.slot(ofName: tree.nodes[child].name.written), notes: start)
            if layout.bindsNames { note(child, layout.slot(ofName: tree.nodes[child].name.expanded), notes: start) }
            child = tree.nodes[child].next
        }
        return start
    }

    @inline(__always)
    private func note(_ child: Int32, _ slot: Int?, notes start: Int) {
        if let slot, notes[start + 2 + slot] == ElementTree.none { notes[start + 2 + slot] = child }
    }

    /// Returns the place of a key's value, or a missing one.
    @inline(__always)
    func place(of field: FieldLayout, path: FieldPath, in node: Int32, notes start: Int) -> ElementPlace {
        switch path.form {
        case .attributeOrChild(let name):
            if tree.hasAttributes(node) {
                let attribute = tree.attribute(name, of: node)
                if attribute.exists { return attribute }
            }
            return ElementPlace(node: firstChild(of: node, name, field, notes: start))
        case .child(let name): return ElementPlace(node: firstChild(of: node, name, field, notes: start))
        case .attribute(let name): return tree.attribute(name, of: node)
        case .own: return ElementPlace(node: node)
        case .steps: return firstPlace(at: path, in: node)
        }
    }

    @inline(__always)
    private func firstChild(of node: Int32, _ name: ElementName, _ field: FieldLayout, notes start: Int) -> Int32 {
        if let slot = field.slot, slot < Int(notes[start + 1]) { return notes[start + 2 + slot] }
        // The key was not known yet when the children were noted.
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none, !name.finds(tree.nodes[child].name) { child = tree.nodes[child].next }
        return child
    }

    /// Returns the first place at a path, or a missing one.
    func firstPlace(at path: FieldPath, in node: Int32) -> ElementPlace {
        if case .attributeOrChild(let name) = path.form {
            let attribute = tree.attribute(name, of: node)
            if attribute.exists { return attribute }
        }
        return firstPlace(path.steps[...], path.attribute, in: node)
    }

    private func firstPlace(_ steps: ArraySlice<FieldPath.Step>, _ attribute: ElementName?, in node: Int32)
        -> ElementPlace
    {
        guard let step = steps.first else {
            return attribute.map { tree.attribute($0, of: node) } ?? ElementPlace(node: node)
        }
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            if matches(child, step) {
                let place = firstPlace(steps.dropFirst(), attribute, in: child)
                if place.exists { return place }
            }
            child = tree.nodes[child].next
        }
        return .missing
    }

    /// Appends the elements at a path.
    func collect(at path: FieldPath, in node: Int32, into nodes: inout FlatArray<Int32>) {
        collect(path.steps[...], in: node, into: &nodes)
    }

    private func collect(_ steps: ArraySlice<FieldPath.Step>, in node: Int32, into nodes: inout FlatArray<Int32>) {
        guard let step = steps.first else { return nodes.append(node) }
        let rest = steps.dropFirst()
        var child = tree.nodes[node].firstChild
        while child != ElementTree.none {
            if matches(child, step) {
                if rest.isEmpty { nodes.append(child) } else { collect(rest, in: child, into: &nodes) }
            }
            child = tree.nodes[child].next
        }
    }

    private func matches(_ node: Int32, _ step: FieldPath.Step) -> Bool {
        guard step.name == .any || step.name.finds(tree.nodes[node].name) else { return false }
        return step.predicates.isEmpty
            || step.predicates.allSatisfy { predicate in
                let place = tree.attribute(predicate.attribute, of: node)
                guard place.exists else { return false }
                let value = tree.text(at: place)
                switch predicate.condition {
                case .exists: return true
                case .equals(let wanted): return value.elementsEqual(wanted.utf8)
                case .differs(let unwanted): return !value.elementsEqual(unwanted.utf8)
                }
            }
    }
}
