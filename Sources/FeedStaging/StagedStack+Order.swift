extension StagingTable {
    /// The references that are part of a row's identity.
    package var identifyingReferences: [StagedReference] {
        let identity = Set(identityColumns.map { $0.lowercased() })
        return references.filter { identity.contains($0.column.name.lowercased()) }
    }
}

extension StagedStack {
    /// The parts, with those referred to before those that refer to them, otherwise in the stack's order. Around a
    /// circle, a part that others need for their identity comes first; then the stack's order decides.
    package var partsByReference: [Part] {
        let ordered = ordered(by: \.references)
        return ordered.isInOrder ? ordered : self.ordered(by: \.identifyingReferences)
    }

    private func ordered(by references: (StagingTable) -> [StagedReference]) -> [Part] {
        var ordered: [Part] = []
        var visited: Set<String> = []
        func visit(_ part: Part) {
            guard visited.insert(part.table.name).inserted else { return }
            for reference in references(part.table) {
                for other in parts where other.table.table.name == reference.target.name { visit(other) }
            }
            ordered.append(part)
        }
        for part in parts { visit(part) }
        return ordered
    }
}

extension [StagedStack.Part] {
    /// True if every row can be identified when its turn comes.
    fileprivate var isInOrder: Bool {
        indices.allSatisfy { index in
            self[index].table.identifyingReferences.allSatisfy { reference in
                !self[(index + 1)...].contains { $0.table.table.name == reference.target.name }
            }
        }
    }
}

extension [StagedStack.Part] {
    /// Groups of parts that may have rows with the same key, each at the position of its last part.
    package var groupedByKeys: [[StagedStack.Part]] {
        var groups: [[StagedStack.Part]] = []
        for part in self {
            let sharing = groups.indices.filter { groups[$0].contains { $0.table.mayShareKeys(with: part.table) } }
            let joined = sharing.flatMap { groups[$0] } + [part]
            for index in sharing.reversed() { groups.remove(at: index) }
            groups.append(joined)
        }
        return groups
    }
}
