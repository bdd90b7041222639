import FeedModel

/// What is around the content of every page.
struct Layout {
    /// A step of the way to a page.
    struct Place {
        var name: String
        var address: String
        var isHere: Bool
    }

    /// A page that every page leads to.
    struct Link: Sendable {
        var name: String
        var address: String
        var isHere = false
    }

    var title: String
    /// The title of the window, with the number of sources that somebody should look at.
    var windowTitle: String
    /// The file of the window's icon.
    var icon: String
    var version: String
    /// Where the page is followed; empty where it stays as it is.
    var live = ""
    private(set) var place: [Place] = []
    var done: String?
    var links: [Link]
    var content: String
    var release = TributaryVersion.version
    var store: String

    init(_ page: Page, version: String, links: [Link], store: String) {
        title = page.title
        windowTitle = page.windowTitle
        icon = page.icon
        self.version = version
        self.links = links
        content = page.fragments.map(\.html).joined()
        self.store = store
    }

    /// Shows the way to the page. The link to the page itself is marked, and is no further step.
    mutating func lead(by place: [Place]) {
        let here = place.last?.address
        for index in links.indices { links[index].isHere = links[index].address == here }
        self.place = links.contains(where: \.isHere) ? place.dropLast() : place
    }
}
