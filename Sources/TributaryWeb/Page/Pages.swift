import FeedDeclarations
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
    private let links: [Layout.Link]
    /// False where no page shows rows of the store.
    private let showsRows: Bool
    private let assets: Assets
    private let tables = BriefCache<SourceTable>()
    private let texts = SourceTexts()
    private let live: LiveLimit
    /// The pages as they were made last for those who follow them, by their addresses.
    let followed = BriefCache<Page?>()

    /// - Throws: where a template is wrong.
    init(
        service: SyncService, store: StoreQueue, logger: Logger, links: [Layout.Link], showsRows: Bool, live: LiveLimit
    ) throws {
        self.showsRows = showsRows
        self.service = service
        self.links = links
        self.store = store
        self.logger = logger
        templates = try Templates()
        assets = Assets()
        self.live = live
    }

    func add(to router: Router<BasicRequestContext>) {
        router.get("/") { request, _ in try await show(request) }
        router.get("/sources/**") { request, _ in try await show(request) }
        router.post("/sources/**") { request, _ in try await act(request) }
        router.get("/daemon") { request, _ in try await show(request) }
        router.post("/hooks/**") { request, _ in try await retry(request) }
        router.get("/live") { request, _ in try await follow(request) }
        router.get("/assets/{name}") { request, context in
            assets.response(to: context.parameters.get("name") ?? "") ?? missing("There is no such file.")
        }
        router.get("**") { _, _ in missing("There is no such page.") }
    }

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
                running: Set(service.activeRuns.entries.keys), templates: templates)
            let shown = list.shownSources
            let recent = try await store.read { store in
                try store.recentRuns(of: shown, limit: RunStrip.runs, changedSince: Date() - 86_400)
            }
            return list.page(recent)
        case .daemon:
            return DaemonPage(
                table: try await table(configuration, since: time), configuration, hosts: service.hostActivity,
                pauses: service.hostPauses, running: Set(service.activeRuns.entries.keys), templates: templates,
                now: Date()
            ).page()
        case .source(let name, let options):
            let running = service.activeRuns[source: name]
            return try await store.read { [templates, texts, showsRows] store in
                try SourcePage(
                    name, options, in: store, configuration, running: running, texts: texts, showsRows: showsRows,
                    templates: templates, now: Date())?.page()
            }
        case .run(let source, let number, let part):
            return try await store.read { [templates] store in
                try RunPage(source, number, part, in: store, configuration, templates: templates)?.page()
            }
        }
    }

    /// Reads once what the list and the lines of the configuration's file need, so that the first visitor does not wait for
    /// cold caches. Keeps no list: the first visitor sees the present one.
    func warmUp() async {
        let configuration = service.configuration
        // Errors are shown to visitors.
        try? await store.read { [texts] store in
            texts.readLines(of: configuration)
            _ = SourceTable(try StoreStatus(configuration, in: store, now: Date()))
        }
    }

    private func table(
        _ configuration: TributaryConfiguration, since time: ContinuousClock.Instant?
    ) async throws -> SourceTable {
        try await tables.value(of: "", since: time) { [store] in
            try await store.read { SourceTable(try StoreStatus(configuration, in: $0, now: Date())) }
        }
    }

    private func show(_ request: Request) async throws -> Response {
        let text = request.uri.string
        if let correction = CorrectionAddress(request) {
            return try await CorrectionPages(pages: self).show(correction, request)
        }
        if let csv = try await reviewAsCSV(request) { return csv }
        guard let address = PageAddress(text) else { return missing("There is no such page.") }
        do {
            guard let page = try await page(address) else { return missing("There is no such source, or no such run.") }
            return .html(.ok, templates.render("layout", layout(page, address, text, Query(request)["done"])))
        } catch let error as StoreError {
            logger.error("The page cannot be shown", metadata: ["error": "\(error)"])
            return failed(error)
        }
    }

    /// Returns the changes that a blocked run waits to make, for `/sources/NAME/runs/NUMBER.csv`; nil for another address.
    private func reviewAsCSV(_ request: Request) async throws -> Response? {
        let names = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard names.count == 4, names[2] == "runs", names[3].hasSuffix(".csv"),
            let number = Int64(names[3].dropLast(4))
        else { return nil }
        let (name, table, configuration) = (names[1], Query(request)["table"], service.configuration)
        let text = try await store.read { store in
            try store.recordedRun(number).flatMap { run in run.source == name ? configuration.review(of: run) : nil }
                .map { ReviewView.csv($0, table) }
        }
        return text.map(Response.csv) ?? missing("There is no such run, or its changes are not known here.")
    }

    // MARK: - Buttons

    private func act(_ request: Request) async throws -> Response {
        if let correction = CorrectionAddress(request) {
            return try await CorrectionPages(pages: self).apply(correction)
        }
        let parts = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 3, let name = parts.dropFirst().first, service.configuration[source: name] != nil else {
            return missing("There is no such source.")
        }
        guard service.configuration[source: name]?.isEnabled == true else {
            return missing("Source '\(name)' is switched off (enabled = false).", .conflict)
        }
        let done: String
        do {
            switch parts[2] {
            case "refresh":
                try await store.read { [service] _ in try service.refreshEverywhere([name]) }
                done = "refresh"
            case "accept":
                let run = Query(request)["run"].flatMap { Int64($0) }
                _ = try await store.write { [service] _ in try service.accept([name], run: run) }
                done = "accept"
            case "resume":
                let isResumed = try await store.write { [service] _ in try !service.resume([name]).isEmpty }
                done = isResumed ? "resume" : "not-paused"
            default: return missing("There is no such page.")
            }
        } catch let refusal as AcceptanceRefusal {
            return missing(refusal.description, .conflict)
        } catch let error as StoreError {
            return failed(error)
        }
        logger.notice("\(name): \(parts[2]) was asked for on the page")
        return .seeOther(PageAddress.path(name, "?done=\(done)"))
    }

    /// Sends the event again at once that a hook's receiver did not take: `/hooks/NAME/retry`.
    private func retry(_ request: Request) async throws -> Response {
        let parts = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 3, parts[2] == "retry",
            service.configuration.hooks.contains(where: { $0.name == parts[1] })
        else { return missing("There is no such hook.") }
        do {
            let isRetried = try await store.write { [service] _ in try service.retryHook(parts[1]) }
            logger.notice("The hook '\(parts[1])' was to send again, by the page")
            return .seeOther(DaemonPage.path + "?done=" + (isRetried ? "retry" : "not-failed"))
        } catch let error as StoreError {
            return failed(error)
        }
    }

    private static func words(_ done: String?) -> String? {
        switch done {
        case "refresh": "It is refreshed as soon as there is a place."
        case "accept": "The documents of the blocked run are committed now. Nothing is fetched for that."
        case "resume": "It is resumed, and refreshed now."
        case "not-paused": "It is not paused."
        case "retry": "The event is sent again now."
        case "not-failed": "No event of the hook has failed."
        case "undo": "Its rows are what they were. It is paused until its feed differs, or until it is resumed."
        case "replay": "Its kept bodies were read again, and the differences committed."
        case "purge": "Its rows are deleted, and what was remembered of it."
        default: nil
        }
    }

    // MARK: - Layout

    private func layout(_ page: Page) -> Layout {
        Layout(page, version: assets.version, links: links, store: service.store.name)
    }

    private func layout(_ page: Page, _ address: PageAddress, _ text: String, _ done: String?) -> Layout {
        var layout = layout(page)
        layout.live = Self.live(address, text)
        layout.done = Self.words(done)
        layout.lead(by: address.place)
        return layout
    }

    /// Returns where a page is followed. A run has ended, and so its page stays as it is.
    private static func live(_ address: PageAddress, _ text: String) -> String {
        if case .run = address { "" } else { "/live?page=" + text.percentEncoded }
    }

    /// Answers with a page that stays as it is.
    func answer(_ page: Page, at place: [Layout.Place], _ status: HTTPResponse.Status = .ok) -> Response {
        var layout = layout(page)
        layout.lead(by: place)
        return .html(status, templates.render("layout", layout))
    }

    private struct MissingView { var message: String }

    func missing(_ message: String, _ status: HTTPResponse.Status = .notFound) -> Response {
        let title = status == .notFound ? "Not found" : status == .badRequest ? "Not understood" : "Not now"
        let content = templates.render("missing", MissingView(message: message))
        return answer(Page(title: title, fragments: [Fragment("missing", content)]), at: [], status)
    }

    func failed(_ error: StoreError) -> Response {
        missing(service.configuration.redactor.redact(error.message), .serviceUnavailable)
    }

    // MARK: - Live

    private func follow(_ request: Request) async throws -> Response {
        guard let text = Query(request)["page"], let address = PageAddress(text) else {
            return .text(.notFound, "There is no such page.\n")
        }
        let first: Page
        do {
            guard let page = try await page(address) else { return .text(.notFound, "There is no such page.\n") }
            first = page
        } catch let error as StoreError {
            // The browser asks again.
            return .text(.serviceUnavailable, service.configuration.redactor.redact(error.message) + "\n")
        }
        guard let place = live.place() else {
            return .text(.serviceUnavailable, "Too many pages are open.\n", [.retryAfter: "60"])
        }
        let stream = LiveStream(pages: self, address: address, text: text, first: first, place: place)
        return Response(
            status: .ok, headers: [.contentType: "text/event-stream"],
            body: ResponseBody { writer in
                try await stream.write(to: &writer)
                try await writer.finish(nil)
            })
    }
}
