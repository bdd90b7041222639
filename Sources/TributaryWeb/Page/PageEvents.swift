import FeedModel
import TributaryEngine

/// Keeps one open page up to date: the page is made again, and those parts are sent that differ.
struct PageEvents: EventSource {
    let pages: Pages
    let address: PageAddress
    let text: String
    /// The page as it is when the browser begins to follow it; nil once it is sent.
    private var first: Page?
    private var former: Page?

    init(_ pages: Pages, _ address: PageAddress, _ text: String, first: Page) {
        (self.pages, self.address, self.text, self.first) = (pages, address, text, first)
    }

    mutating func next() async throws -> (text: String, isLast: Bool) {
        let page: Page
        if let first {
            (page, self.first) = (first, nil)
        } else {
            let now = ContinuousClock.now
            let made = try await pages.followed.value(of: pages.key(of: text), since: now) { [pages, address] in
                try await pages.page(address, since: now)
            }
            // The source is no longer declared, or the run was deleted. The browser requests the page again.
            guard let made else { throw CancellationError() }
            page = made
        }
        defer { former = page }
        let changes = page.changes(since: former)
        let isSame = changes.isEmpty && page.status == former?.status && page.windowTitle == former?.windowTitle
        guard !isSame else { return ("", true) }
        // The window's title and icon, and what a screen reader says when it changes.
        let message: JSONObject = [
            "parts": changes.map { ["id": $0.id, "html": $0.html] }, "title": page.windowTitle, "icon": page.icon,
            "status": page.status,
        ]
        return ("data: \(try JSONOutput.line(message))\n\n", true)
    }
}
