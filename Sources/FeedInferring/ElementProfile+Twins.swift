import XMLStream

extension ElementProfile {
    /// Merges the profiles of names that one path finds: a name without a prefix matches in any namespace.
    ///
    /// A path `item/link` finds the records at `item/atom:link`, too. No path separates them, so they are profiled in
    /// one place. Values can be separated: of several the first counts, and an export writes the one without a prefix
    /// first. But a record that has only the other takes its value from there, so the column's type must allow it.
    func foldTwins() {
        var folded: Set<ObjectIdentifier> = []
        for group in Dictionary(grouping: children.enumerated(), by: \.element.name.local).values where group.count > 1
        {
            guard let plain = group.first(where: { $0.element.name.namespace == nil }) else { continue }
            let twins = group.filter { $0.offset != plain.offset }
            if plain.element.holdsRecords || twins.contains(where: { $0.element.isRecursive }) {
                for twin in twins {
                    plain.element.merge(twin.element)
                    folded.insert(ObjectIdentifier(twin.element))
                }
            } else {
                for twin in twins {
                    plain.element.mayHold(twin.element, comesFirst: twin.offset < plain.offset)
                }
            }
        }
        if !folded.isEmpty { children.removeAll { folded.contains(ObjectIdentifier($0)) } }
        for group in Dictionary(grouping: attributes.indices, by: { attributes[$0].name.local }).values
        where group.count > 1 {
            guard let plain = group.first(where: { attributes[$0].name.namespace == nil }) else { continue }
            for twin in group where twin != plain {
                attributes[plain].value.mayHold(attributes[twin].value, comesFirst: twin < plain)
            }
        }
        for child in children { child.foldTwins() }
    }

    /// True where the element, or an element within it, repeats.
    private var holdsRecords: Bool {
        maximum > 1 || isRecursive || !isProse && children.contains(where: \.holdsRecords)
    }

    private func mayHold(_ twin: ElementProfile, comesFirst: Bool) {
        text.mayHold(twin.text, comesFirst: comesFirst)
        let theirAttributes = Dictionary(grouping: twin.attributes, by: \.name.local)
        for index in attributes.indices {
            for other in theirAttributes[attributes[index].name.local] ?? [] {
                attributes[index].value.mayHold(other.value, comesFirst: comesFirst)
            }
        }
        let theirChildren = Dictionary(grouping: twin.children, by: \.name.local)
        for child in children {
            for other in theirChildren[child.name.local] ?? [] { child.mayHold(other, comesFirst: comesFirst) }
        }
    }
}
