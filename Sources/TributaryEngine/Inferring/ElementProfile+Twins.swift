import XMLStream

extension ElementProfile {
    /// Profiles elements of one local name in one place where a path cannot tell them apart: a name without a prefix is
    /// found in any namespace, so the records at `item/link` are the `item/atom:link` too, if there are any.
    ///
    /// Values are told apart well enough: of several the first counts, and an export writes the one without a prefix first.
    func foldTwins() {
        for plain in children where plain.name.namespace == nil {
            let twins = children.filter { $0.name.local == plain.name.local && $0.name.namespace != nil }
            guard !twins.isEmpty, plain.holdsRecords else { continue }
            children.removeAll { child in twins.contains { $0 === child } }
            for twin in twins { plain.merge(twin) }
        }
        for child in children { child.foldTwins() }
    }

    /// Whether it, or an element within it, repeats.
    private var holdsRecords: Bool {
        maximum > 1 || isRecursive || !isProse && children.contains(where: \.holdsRecords)
    }
}
