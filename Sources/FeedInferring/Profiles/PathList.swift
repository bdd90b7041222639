/// Names or paths of elements for a comment: the first of them, and the number of all.
///
/// A document or a schema may have thousands.
struct PathList {
    private var first: [String] = []
    private var count = 0
    /// The most paths shown.
    private static let shown = 10

    mutating func append(_ path: String) {
        count += 1
        if first.count < Self.shown { first.append(path) }
    }

    /// Returns a line with the paths; no line without one.
    func line(_ what: String) -> [String] {
        guard count > 0 else { return [] }
        let rest = count - first.count
        return ["\(what) \(first.joined(separator: ", "))" + (rest > 0 ? " and \(rest.grouped) more." : ".")]
    }
}
