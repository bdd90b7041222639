import XMLStream

extension ElementProfile {
    /// Returns a copy in which elements below elements of the same name (outlines in outlines, categories in
    /// categories) are profiled in one place, so that one table with a suffix path loads every level.
    ///
    /// Elements of one name count as levels of one thing where they share an attribute or a child, or have only text.
    /// `Cube` in `Cube` of the European Central Bank shares nothing. All must lie below the topmost of them and occur
    /// nowhere else, because a suffix path would find them there, too.
    ///
    /// Folding one group may bring together another. So names are checked until no group is found, or for ``passes``
    /// passes: a document that needs more was made for it.
    func foldingRecursion() -> ElementProfile {
        let copy = ElementProfile(copying: self, parent: nil)
        for _ in 0..<Self.passes {
            guard copy.foldGroups() else { break }
        }
        return copy
    }

    private static let passes = 20

    /// Folds each group of elements of one name. Names are taken in the order of the document.
    ///
    /// - Returns: true if a group was folded.
    private func foldGroups() -> Bool {
        var names: [String] = []
        // An element comes before those below it. This stays so, because folding moves elements only towards the root.
        var places: [String: [ElementProfile]] = [:]
        visit { element in
            if places[element.name.bare] == nil { names.append(element.name.bare) }
            places[element.name.bare, default: []].append(element)
        }
        var hasFolded = false
        for name in names {
            guard let found = places[name], found.count > 1 else { continue }
            let group = found.filter { $0.merged == nil }
            guard group.count > 1, let top = group.first,
                group.contains(where: { $0.maximum > 1 || $0.isFurtherLevel })
            else { continue }
            let levels = group.dropFirst()
            let isOpen = !top.isProse || top.children.allSatisfy { $0.name.isSame(as: top.name) }
            guard isOpen, levels.allSatisfy({ $0.isLevel(of: top) }) else { continue }
            for level in levels { level.parent?.removeChild(level) }
            for level in levels { top.merge(level) }
            top.isRecursive = true
            hasFolded = true
        }
        return hasFolded
    }

    private func isLevel(of top: ElementProfile) -> Bool {
        name.isSame(as: top.name) && sharesShape(with: top)
            && sequence(first: self, next: \.parent).dropFirst().contains { $0 === top }
    }

    /// True if a schema declares it as a level of the enclosing element.
    private var isFurtherLevel: Bool { declaration?.isLevel ?? false }

    private func sharesShape(with top: ElementProfile) -> Bool {
        if isFurtherLevel { return true }
        let attributes = data
        if attributes.contains(where: { top.hasAttribute($0.name.identity) }) { return true }
        if children.contains(where: { !$0.name.isSame(as: name) && top.child($0.name.identity) != nil }) { return true }
        return attributes.isEmpty && text.filled > 0 && top.text.filled > 0 && top.data.isEmpty
    }

    /// Calls `body` with this element and everything below it, parents first.
    func visit(_ body: (ElementProfile) -> Void) {
        body(self)
        for child in children { child.visit(body) }
    }
}
