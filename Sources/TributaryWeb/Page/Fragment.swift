/// A part of a page: an element with an `id` of its own. While the page is open, a part is sent again when it differs.
struct Fragment: Sendable, Equatable {
    let id: String
    private let start: String
    /// Elements within it that can be sent by themselves.
    private let parts: [Fragment]
    private let end: String

    /// - Parameter html: one element, whose `id` is the fragment's.
    init(_ id: String, _ html: String) {
        self.init(id, html, [], "")
    }

    init(_ id: String, _ start: String, _ parts: [Fragment], _ end: String) {
        self.id = id
        self.start = start
        self.parts = parts
        self.end = end
    }

    var html: String { start + parts.map(\.html).joined() + end }

    /// Returns the smallest parts that turn the former fragment into this one.
    func changes(since former: Fragment) -> [Fragment] {
        if self == former { return [] }
        guard start == former.start, end == former.end, parts.map(\.id) == former.parts.map(\.id), !parts.isEmpty else {
            return [self]
        }
        return zip(parts, former.parts).flatMap { $0.changes(since: $1) }
    }
}
