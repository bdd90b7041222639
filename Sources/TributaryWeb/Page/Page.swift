/// A page as fragments, one after another.
struct Page: Sendable {
    let title: String
    let fragments: [Fragment]

    /// Returns what has to be sent to those who see the former page.
    func changes(since former: Page?) -> [Fragment] {
        guard let former, former.fragments.map(\.id) == fragments.map(\.id) else { return fragments }
        return zip(fragments, former.fragments).flatMap { $0.changes(since: $1) }
    }
}
