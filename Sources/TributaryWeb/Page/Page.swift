/// A page as fragments, one after another.
struct Page: Sendable {
    let title: String
    let fragments: [Fragment]
    /// The number of sources on it that somebody should look at.
    var problems = 0
    /// How its sources stand, in a sentence: what a screen reader hears when it changes.
    var status = ""

    var windowTitle: String { (problems > 0 ? "(\(problems)) " : "") + title + " · Tributary" }

    var icon: String { problems > 0 ? "icon-problem.svg" : "icon.svg" }

    /// Returns what has to be sent to those who see the former page.
    func changes(since former: Page?) -> [Fragment] {
        guard let former, former.fragments.map(\.id) == fragments.map(\.id) else { return fragments }
        return zip(fragments, former.fragments).flatMap { $0.changes(since: $1) }
    }
}

/// A part of a page: an element with an `id` of its own. While the page is open, a part is sent again when it differs.
struct Fragment: Sendable, Equatable {
    let id: String
    private let start: String
    /// Elements within it that can be sent by themselves.
    private let parts: [Fragment]
    private let end: String

    /// - Parameter html: one element, whose `id` is the fragment's.
    init(_ id: String, _ start: String, _ parts: [Fragment] = [], _ end: String = "") {
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
