import XMLStream

/// A path that selects the records of a document: `food`, `menu/food` wherever such a menu is, or `/menu/food`.
package struct RecordPath: Sendable {
    let text: String
    private let isAbsolute: Bool
    private let names: [String]

    /// - Precondition: the path consists of names, prefix included, separated by slashes.
    package init(_ text: String) {
        self.text = text
        isAbsolute = text.hasPrefix("/")
        let steps = text.dropFirst(isAbsolute ? 1 : 0).split(separator: "/", omittingEmptySubsequences: false)
        names = steps.map(String.init)
        precondition(
            names.allSatisfy { !$0.isEmpty && !$0.contains("@") }, "'\(text)' is not the path of an element")
    }

    /// The name of the record's own element.
    var name: String { names[names.count - 1] }

    /// Returns true if the elements around one with the right name match the path too.
    func matchesAncestors(in stream: XMLStreamParser) -> Bool {
        let depth = stream.depth
        if isAbsolute ? depth != names.count : depth < names.count { return false }
        return (1..<names.count).allSatisfy {
            stream.name(atDepth: depth - $0).qualified == names[names.count - 1 - $0]
        }
    }
}
