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
