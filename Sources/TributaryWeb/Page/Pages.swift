import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TributaryEngine

/// The pages for people, the buttons on them, and what keeps them up to date.
struct Pages: Sendable {
    let service: SyncService
    let store: StoreQueue
    let logger: Logger
    let templates: Templates
    /// The pages that each page leads to.
    let links: [Link]
    /// False where `[daemon] rows` is false: then no page shows rows of the store, or changes of them.
    let showsRows: Bool
    static let rowsAreOff = "Rows are not shown: rows = false in [daemon]."
    private let assets = Assets()
    private let tables = BriefCache<SourceTable>()
    /// The places of those who follow events or a page.
    let live: FollowerLimit
    /// What `/daemon` shows over time.
    let figures = DaemonFigures()
    /// The pages as they were made last for those who follow them, by their keys.
    let followed = BriefCache<Page?>()
    /// False for pages without buttons.
    private(set) var mayChange = true
    /// Returns false once a reload has changed the tokens.
    private(set) var isAllowed: @Sendable () -> Bool = { true }

    func add(to router: Router<PageContext>) {
        for path: RouterPath in ["/", "/sources/**", "/daemon"] {
            router.get(path) { request, context in try await seen(by: context).show(request) }
        }
        router.post("/sources/**") { request, context in try await seen(by: context).act(request) }
        router.post("/hooks/**") { request, context in try await seen(by: context).retry(request) }
        router.get("/live") { request, context in try await seen(by: context).follow(request) }
        router.get("/assets/{name}") { request, context in
            assets.response(to: context.parameters.get("name") ?? "") ?? missing("There is no such file.")
        }
        router.get("**") { _, context in seen(by: context).missing("There is no such page.") }
    }

    /// Returns the pages as somebody sees them: without buttons for those who may not press them.
    func seen(by context: PageContext) -> Pages {
        var pages = self
        pages.mayChange = context.mayChange
        pages.isAllowed = context.isAllowed
        return pages
    }

    /// Returns the key of a page among those that are followed.
    func key(of address: String) -> String { (mayChange ? "" : "read ") + address }

    /// Returns a page as it is; nil where there is none.
    ///
    /// - Parameter time: of a list that many look at, it is as it was then or later; a second ago for nil.
    /// - Throws: `StoreError`, `CancellationError`.
    func page(_ address: PageAddress, since time: ContinuousClock.Instant? = nil) async throws -> Page? {
        let configuration = service.configuration
        switch address {
        case .sources(let query):
            let list = SourceList(
                query: query, table: try await table(configuration, since: time),
                running: Set(service.activeRuns.entries.keys))
            let shown = list.shownSources
            let recent = try await store.read { store in
                try store.read { try $0.runs.recent(of: shown, limit: RunStrip.runs, changedSince: Date() - 86_400) }
            }
            return list.page(recent, templates)
        case .daemon:
            return DaemonPage.page(try await table(configuration, since: time), configuration, in: self, now: Date())
        case .source(let name, let options):
            return try await store.read {
                try SourcePage(name, options, of: $0, configuration, in: self, now: Date())?.page()
            }
        case .outdated(let correction, let seen):
            return try await CorrectionPages(pages: self).outdated(correction, since: seen)
        case .run(_, _, format: _?, _): return nil
        case .run(let source, let number, format: nil, let part):
            return try await store.read { try RunPage(source, number, part, of: $0, configuration, in: self)?.page() }
        }
    }

    /// Reads once what the list needs, so that the first visitor does not wait for cold caches. Keeps no list: the
    /// first visitor sees the present one.
    func warmUp() async {
        let configuration = service.configuration
        // Errors are shown to visitors.
        try? await store.read { store in
            _ = SourceTable(try StoreStatus(configuration, in: store, isDaemonRunning: true, now: Date()))
        }
    }

    private func table(
        _ configuration: TributaryConfiguration, since time: ContinuousClock.Instant?
    ) async throws -> SourceTable {
        try await tables.value(of: "", since: time) { [store, service] in
            let pauses = service.hostPauses
            return try await store.read { store in
                SourceTable(
                    try StoreStatus(configuration, in: store, pauses: pauses, isDaemonRunning: true, now: Date()))
            }
        }
    }

    private func show(_ request: Request) async throws -> Response {
        let text = request.uri.string
        let way = Link.way(to: request.names)
        return try await answering(request) {
            if let correction = try CorrectionAddress(request) {
                return try await CorrectionPages(pages: self).show(correction, request)
            }
            guard let address = try PageAddress(text) else { return missing("There is no such page.") }
            if case .run(let source, let run, let format?, let part) = address {
                return try await changes(of: run, source, part, as: format)
                    ?? missing("There is no such run.", at: way)
            }
            if case .outdated = address { return missing("There is no such page.") }
            guard let page = try await page(address) else {
                return missing("There is no such source, or no such run.", at: way)
            }
            let done = Query(request)["done"].flatMap(notice)
            return .html(.ok, html(page, at: way, live: Self.live(address, text), done: done))
        }
    }

    /// Answers a request; where that fails, with a page that says why and leads back.
    ///
    /// - Parameters:
    ///   - place: where somebody is; nil for what the path says.
    ///   - refused: the title where an operation is refused; nil for what the status says.
    func answering(
        _ request: Request, at place: [Link]? = nil, refused: String? = nil,
        _ body: () async throws -> Response
    ) async throws -> Response {
        do {
            return try await body()
        } catch {
            let redactor = service.configuration.redactor
            guard let failure = RequestFailure(error, refused: refused, redactor: redactor) else { throw error }
            if error is StoreError { logger.error("The page cannot be shown", metadata: ["error": "\(error)"]) }
            var way = place ?? Link.way(to: request.names)
            // A link to the page without what was asked of it.
            if request.uri.query != nil, let last = way.indices.last, !way[last].address.isEmpty {
                way[last].isHere = false
            }
            let review = failure.waiting.flatMap { run in
                way.first.map { Link(name: "Review run \(run)", address: $0.address + "/runs/\(run)") }
            }
            return missing(
                failure.message, failure.status, title: failure.title, at: way, links: review.map { [$0] } ?? [])
        }
    }

    // MARK: - Layout

    /// Returns a page with what is around the content of every page.
    ///
    /// - Parameters:
    ///   - place: the way to the page. The link to the page itself is marked, and is no further step.
    ///   - live: where the page is followed; empty where it stays as it is.
    private func html(_ page: Page, at place: [Link], live: String, done: String? = nil) -> String {
        var links = mayChange ? links : links.filter { $0.address != TryPage.path }
        let here = place.last?.address
        for index in links.indices { links[index].isHere = links[index].address == here }
        let view: View = [
            "title": page.title, "windowTitle": page.windowTitle, "icon": page.icon, "version": assets.version,
            "live": live, "place": links.contains(where: \.isHere) ? Array(place.dropLast()) : place, "done": done,
            "links": links, "content": page.fragments.map(\.html).joined(), "release": TributaryVersion.version,
            "store": service.store.name,
        ]
        return templates.render("layout", view)
    }

    /// Returns where a page is followed. A run has ended, and so its page stays as it is.
    private static func live(_ address: PageAddress, _ text: String) -> String {
        if case .run = address { return "" }
        // The notice of a button is not part of the page that is followed.
        let values = Query.parts(of: text).query.items.filter { $0.name != "done" }.map {
            ($0.name, $0.value as String?)
        }
        return live(Query(values).address(String(text.prefix { $0 != "?" })))
    }

    private static func live(_ text: String) -> String { "/live?page=" + text.percentEncoded }

    /// Answers with a page that is not updated, except for parts that are followed at another address.
    func answer(
        _ page: Page, at place: [Link], _ status: HTTPResponse.Status = .ok, following address: String? = nil
    ) -> Response {
        .html(status, html(page, at: place, live: address.map(Self.live) ?? ""))
    }

    /// Answers why something is not shown, or not done.
    ///
    /// - Parameters:
    ///   - title: what happened; nil for what the status says.
    ///   - place: where somebody was.
    ///   - links: where somebody may go on, before that place.
    func missing(
        _ message: String, _ status: HTTPResponse.Status = .notFound, title: String? = nil,
        at place: [Link] = [], links: [Link] = []
    ) -> Response {
        let links = links + place.filter { !$0.isHere }
        let content = templates.render("missing", ["message": message, "links": links] as View)
        return answer(
            Page(title: title ?? Self.title(status), fragments: [Fragment("missing", content)]), at: place, status)
    }

    private static func title(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .notFound: "Not found"
        case .badRequest: "Bad request"
        case .forbidden: "Not allowed"
        case .conflict: "Nothing was changed"
        case .requestTimeout: "Request timed out"
        default: "Not available"
        }
    }

    // MARK: - Live

    private func follow(_ request: Request) async throws -> Response {
        let address: PageAddress
        let text = Query(request)["page"] ?? ""
        let first: Page
        do {
            guard !text.isEmpty, let found = try PageAddress(text) else {
                return .text(.notFound, "There is no such page.\n")
            }
            address = found
            guard let page = try await page(address) else { return .text(.notFound, "There is no such page.\n") }
            first = page
        } catch {
            // The browser asks again.
            guard let failure = RequestFailure(error, redactor: service.configuration.redactor) else { throw error }
            return .text(failure.status, failure.message + "\n")
        }
        guard let place = live.place() else {
            return .text(.serviceUnavailable, "Too many pages are open; close some.\n", [.retryAfter: "60"])
        }
        let events = PageEvents(self, address, text, first: first)
        return EventStream(source: events, activeRuns: service.activeRuns, place: place, isAllowed: isAllowed).response
    }
}
