package import FeedModel

extension StagingTable {
    /// The references that are part of a row's identity.
    package var identifyingReferences: [StagedReference] {
        let identity = Set(identityColumns.map { $0.lowercased() })
        return references.filter { identity.contains($0.column.name.lowercased()) }
    }
}

extension StoreError {
    /// Creates the error for rows that only a reference distinguishes, if the referenced rows refer back to them or are
    /// among them.
    package static func circle(_ table: String, _ reference: StagedReference) -> StoreError {
        let others = reference.target.name == table ? "" : " and those of table '\(reference.target.name)'"
        return StoreError(
            .schema,
            "table '\(table)': its rows\(others) refer to each other, and without the "
                + "column '\(reference.column.name)' nothing distinguishes its rows; give the table a unique key that the feed "
                + "has, or one of the columns a value of its own")
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
        let places = Dictionary(grouping: parts.indices) { parts[$0].table.table.name }
        return parts.ordered { part in references(part.table).flatMap { places[$0.target.name] ?? [] } }
    }
}

extension [StagedStack.Part] {
    /// True if every row can be identified when its turn comes.
    package var isInOrder: Bool {
        indices.allSatisfy { index in
            self[index].table.identifyingReferences.allSatisfy { reference in
                !self[(index + 1)...].contains { $0.table.table.name == reference.target.name }
            }
        }
    }
}

extension StagedStack {
    /// The tables whose staged rows can be compared with the store only after other tables have been merged: their keys
    /// are values looked up there, or records of such a table.
    package var tablesIdentifiedLate: Set<String> {
        let parts = parts.filter { $0.counts.rows > 0 && $0.table.isIdentifiedByReference }
        var late: Set<String> = []
        while true {
            let more = parts.filter { part in
                !late.contains(part.table.table.name)
                    && part.table.identifyingReferences.contains { !$0.isByRecord || late.contains($0.target.name) }
            }
            guard !more.isEmpty else { return late }
            late.formUnion(more.map(\.table.table.name))
        }
    }
}

extension [StagedStack.Part] {
    /// Returns true if a part has references that are resolved after its rows have been merged.
    package func hasCycle(_ part: StagedStack.Part) -> Bool {
        part.table.references.contains { isCyclic($0, of: part) }
    }

    /// Returns true if the referenced rows may be merged only after the referring ones.
    package func isCyclic(_ reference: StagedReference, of part: StagedStack.Part) -> Bool {
        guard let own = firstIndex(where: { $0.table.name == part.table.name }) else { return false }
        return self[own...].contains { $0.table.table.name == reference.target.name }
    }

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

extension Array {
    /// Returns the elements, each behind those that it needs, as far as they do not need one another in a circle; otherwise
    /// in their own order. Depth first, so that what an element needs stands right before it.
    ///
    /// - Parameter needs: returns the positions of the elements that one needs.
    package func ordered(behind needs: (Element) throws -> [Int]) rethrows -> [Element] {
        var ordered: [Element] = []
        var isVisited = Array<Bool>(repeating: false, count: count)
        for start in indices where !isVisited[start] {
            isVisited[start] = true
            // A list of its own, as a recursion through all tables of a large database would be too deep.
            var path = [(place: start, needed: try needs(self[start])[...])]
            while let last = path.last {
                if let next = last.needed.first {
                    path[path.count - 1].needed.removeFirst()
                    guard !isVisited[next] else { continue }
                    isVisited[next] = true
                    path.append((next, try needs(self[next])[...]))
                } else {
                    ordered.append(self[last.place])
                    path.removeLast()
                }
            }
        }
        return ordered
    }
}
