import XMLStream

/// Which elements of a document are records: `food`, `menu/food` wherever such a menu is, or `/menu/food`.
package struct RecordPath: Sendable {
    let text: String
    private let isAbsolute: Bool
    private let names: [String]

    /// - Precondition: the path is names, prefix included, with a slash between two of them.
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

    /// Whether the elements around one of the right name are the right ones, too.
    func matchesAncestors(in stream: XMLStreamParser) -> Bool {
        let depth = stream.depth
        if isAbsolute ? depth != names.count : depth < names.count { return false }
        return (1..<names.count).allSatisfy {
            stream.name(atDepth: depth - $0).qualified == names[names.count - 1 - $0]
        }
    }
}
