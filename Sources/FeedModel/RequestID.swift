/// The identity of a request: its source and its key.
package struct RequestID: Hashable, Comparable, Sendable {
    package var source: String
    /// The request's key within its source.
    package var key: String

    package init(source: String, key: String) {
        self.source = source
        self.key = key
    }

    package static func < (left: RequestID, right: RequestID) -> Bool {
        (left.source, left.key) < (right.source, right.key)
    }
}
