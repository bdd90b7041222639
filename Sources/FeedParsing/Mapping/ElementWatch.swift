package import XMLStream

/// A handler that sees a few elements of a document beside its mapping. Which they are is decided once for each distinct
/// path, so that other elements cost nothing.
package struct ElementWatch {
    /// The most elements of one path that are seen. Elements that occur more often are data.
    static let mostSeen = 20

    let handler: XMLStreamHandler
    /// Returns true if the handler wants the element that has begun.
    let wants: (XMLStreamParser) -> Bool

    package init(_ handler: XMLStreamHandler, wants: @escaping (XMLStreamParser) -> Bool) {
        self.handler = handler
        self.wants = wants
    }
}

extension PathNode {
    /// True if an element there is, or is within, a record that may occur several times.
    var isOfRecord: Bool {
        var node: PathNode? = self
        while let current = node, current.depth > 1 {
            if !current.records.isEmpty { return true }
            node = current.parent
        }
        return false
    }
}
