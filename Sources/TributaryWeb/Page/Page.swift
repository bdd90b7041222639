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
