import XMLStream

/// A path that selects the records of a document: `food`, `menu/food` wherever such a menu is, or `/menu/food`.
package struct RecordPath: Sendable {
    private struct Step: Sendable {
        let written: String
        /// The name by its namespace, where it has one; nil if the name is the document's.
        var expanded: (local: String, namespace: String)?
        /// True if a name written so is meant, whatever its namespace.
        var isWritten = true

        func matches(_ name: XMLName) -> Bool {
            if let expanded, name.local == expanded.local, name.namespace == expanded.namespace { return true }
            return isWritten && name.qualified == written
        }
    }

    private let isAbsolute: Bool
    private let steps: [Step]

    /// - Parameter namespaces: the namespaces of the prefixes that stand for one; `""` is that of names without prefix.
    /// - Precondition: the path consists of names, prefix included, separated by slashes.
    package init(_ text: String, namespaces: [String: String] = [:]) {
        isAbsolute = text.hasPrefix("/")
        let names = text.dropFirst(isAbsolute ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        precondition(
            names.allSatisfy { !$0.isEmpty && !$0.contains("@") }, "'\(text)' is not the path of an element")
        steps = names.map { name in
            var step = Step(written: String(name))
            let parts = name.split(separator: ":", maxSplits: 1).map(String.init)
            if let namespace = namespaces[parts.count == 2 ? parts[0] : ""] {
                step.expanded = (parts[parts.count - 1], namespace)
                step.isWritten = parts.count < 2
            }
            return step
        }
    }

    /// Returns true if a name is that of the record's own element.
    func matches(_ name: XMLName) -> Bool { steps[steps.count - 1].matches(name) }

    /// Returns true if the elements around one with the right name match the path too.
    func matchesAncestors(in stream: XMLStreamParser) -> Bool {
        let depth = stream.depth
        if isAbsolute ? depth != steps.count : depth < steps.count { return false }
        return (1..<steps.count).allSatisfy {
            steps[steps.count - 1 - $0].matches(stream.name(atDepth: depth - $0))
        }
    }
}
