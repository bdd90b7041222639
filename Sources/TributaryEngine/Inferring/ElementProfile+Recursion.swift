import XMLStream

extension ElementProfile {
    /// A copy in which elements below elements of the same name (outlines in outlines, categories in categories) are
    /// profiled in one place, so that one table with a suffix path loads every level.
    ///
    /// Elements of one name are taken for levels of one thing where they share an attribute or a child, or have nothing
    /// but text: `Cube` in `Cube` of the European Central Bank shares nothing. They must lie below the topmost of them
    /// and occur nowhere else, because a suffix path would find them there, too.
    func foldingRecursion() -> ElementProfile {
        let copy = ElementProfile(copying: self, parent: nil)
        while let group = copy.recursiveGroup() {
            for level in group.levels { level.parent?.children.removeAll { $0 === level } }
            for level in group.levels { group.top.merge(level) }
            group.top.isRecursive = true
        }
        return copy
    }

    /// The first element that has others of its kind below it.
    private func recursiveGroup() -> (top: ElementProfile, levels: [ElementProfile])? {
        var names: [String] = []
        var places: [String: [ElementProfile]] = [:]
        visit { element in
            if places[element.name.local] == nil { names.append(element.name.local) }
            places[element.name.local, default: []].append(element)
        }
        for name in names {
            guard let found = places[name], found.count > 1, let top = found.first else { continue }
            let levels = Array(found.dropFirst())
            guard levels.allSatisfy({ $0.isLevel(of: top) }), found.contains(where: { $0.maximum > 1 }) else {
                continue
            }
            return (top, levels)
        }
        return nil
    }

    private func isLevel(of top: ElementProfile) -> Bool {
        guard name.isSame(as: top.name), !top.isProse || top.children.allSatisfy({ $0.name.isSame(as: name) }) else {
            return false
        }
        return sequence(first: self, next: \.parent).dropFirst().contains { $0 === top } && sharesShape(with: top)
    }

    private func sharesShape(with other: ElementProfile) -> Bool {
        let attributes = data.map(\.name)
        if other.data.contains(where: { theirs in attributes.contains { $0.isSame(as: theirs.name) } }) { return true }
        if other.children.contains(where: { theirs in
            !theirs.name.isSame(as: name) && children.contains { $0.name.isSame(as: theirs.name) }
        }) {
            return true
        }
        return attributes.isEmpty && other.data.isEmpty && text.filled > 0 && other.text.filled > 0
    }

    /// Calls `body` with this element and everything below it, parents first.
    func visit(_ body: (ElementProfile) -> Void) {
        body(self)
        for child in children { child.visit(body) }
    }
}
