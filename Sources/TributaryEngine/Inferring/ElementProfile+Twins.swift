import XMLStream

extension ElementProfile {
    /// Takes into account that a name without a prefix is found in any namespace.
    ///
    /// The records at `item/link` are the `item/atom:link` too, if there are any: no path tells them apart, so they are
    /// profiled in one place. Values are told apart, because of several the first counts, and an export writes the one
    /// without a prefix first. But where a record has only the other, that is its value: the column's type must allow it.
    func foldTwins() {
        for plain in children where plain.name.namespace == nil {
            let twins = children.filter { $0.name.local == plain.name.local && $0.name.namespace != nil }
            guard !twins.isEmpty else { continue }
            if plain.holdsRecords || twins.contains(where: { $0.isRecursive }) {
                children.removeAll { child in twins.contains { $0 === child } }
                for twin in twins { plain.merge(twin) }
            } else {
                let place = children.firstIndex { $0 === plain } ?? 0
                for twin in twins {
                    plain.mayHold(twin, comesFirst: children[..<place].contains { $0 === twin })
                }
            }
        }
        for index in attributes.indices where attributes[index].name.namespace == nil {
            for (place, twin) in attributes.enumerated()
            where twin.name.local == attributes[index].name.local && twin.name.namespace != nil {
                attributes[index].value.mayHold(twin.value, comesFirst: place < index)
            }
        }
        for child in children { child.foldTwins() }
    }

    /// Whether it, or an element within it, repeats.
    private var holdsRecords: Bool {
        maximum > 1 || isRecursive || !isProse && children.contains(where: \.holdsRecords)
    }

    private func mayHold(_ twin: ElementProfile, comesFirst: Bool) {
        text.mayHold(twin.text, comesFirst: comesFirst)
        for index in attributes.indices {
            for other in twin.attributes where other.name.local == attributes[index].name.local {
                attributes[index].value.mayHold(other.value, comesFirst: comesFirst)
            }
        }
        for child in children {
            for other in twin.children where other.name.local == child.name.local {
                child.mayHold(other, comesFirst: comesFirst)
            }
        }
    }
}
