import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TributaryEngine

/// The pages of an undo, a replay and a purge before they are done: exactly what will happen, and a button that says it.
struct CorrectionPages: Sendable {
    let pages: Pages

    private static let promise =
        "The button makes exactly these changes. If the store has changed since, it makes none."

    /// Shows what would be done.
    func show(_ address: CorrectionAddress, _ request: Request) async throws -> Response {
        // Another site's page or picture makes no plan.
        if let site = request.headers[.secFetchSite], site != "same-origin", site != "none" {
            return pages.missing(
                "Other sites cannot open this page. Open it from the page of the source.", .forbidden,
                at: place(address, isHere: false))
        }
        guard address.format == nil || pages.showsRows else { return pages.missing(Pages.rowsAreOff) }
        return try await answering(request, address, refused: "\(address.title): not possible") {
            let name = address.source
            // Read before the plan: what is committed meanwhile makes it out of date.
            let (seen, isPaused) = try await pages.store.read { store in
                (
                    try store.read { try $0.runs.last(of: name, limit: 1) }.first?.number ?? 0,
                    try store.states(of: name).source.isPaused
                )
            }
            let plan = try await pages.service.plan(address.correction, of: name)
            if let format = address.format {
                guard case .rows(let review, _) = plan.content else { return pages.missing("There is no such page.") }
                return .file(try format.text(address.part.rows(of: review)), format)
            }
            var view = view(plan, address)
            // Where the source is paused before somebody decides.
            if view["action"] != nil, !isPaused, pages.service.configuration[source: name]?.isEnabled == true {
                view["pause"] = PageAddress.path(name, "/pause?then=" + address.address(address.part).percentEncoded)
            }
            let page = Page(
                title: address.title, fragments: [pages.templates.fragment("review", view)])
            return pages.answer(
                page, at: place(address, isHere: true), following: address.address(address.part, seen: seen))
        }
    }

    /// Returns the notice for an open page: whether a run was committed since, after which its button changes nothing.
    func outdated(_ address: CorrectionAddress, since seen: Int64) async throws -> Page {
        let run = try await pages.store.read {
            try $0.read { try $0.runs.commits(of: address.source, after: seen) }.last?.number
        }
        let view: View = ["run": run, "address": address.address(address.part)]
        return Page(
            title: address.title,
            fragments: [pages.templates.fragment("outdated", view)],
            status: run.map { "Run \($0) was committed since these changes were shown." } ?? "")
    }

    private func place(_ address: CorrectionAddress, isHere: Bool) -> [Link] {
        [
            Link(name: address.source, address: PageAddress.path(address.source), isHere: false),
            Link(name: address.operation.name.capitalized, address: address.address(), isHere: isHere),
        ]
    }

    /// Does what was shown.
    func apply(_ address: CorrectionAddress, _ request: Request) async throws -> Response {
        try await answering(request, address, refused: "Nothing was changed") {
            guard let digest = address.apply else {
                throw Query.Problem("'apply' must be the digest of a preview; use the preview's button")
            }
            _ = try await pages.service.apply(address.correction, of: address.source, shown: digest)
            pages.logger.notice("\(address.source): \(address.operation.name) applied on the page")
            let isLeft = address.correction != .purge || pages.service.configuration[source: address.source] != nil
            return .seeOther((isLeft ? PageAddress.path(address.source) : "/") + "?done=\(address.operation.name)")
        }
    }

    /// - Parameter refused: the title where it cannot be done.
    private func answering(
        _ request: Request, _ address: CorrectionAddress, refused: String, _ body: () async throws -> Response
    ) async throws -> Response {
        try await pages.answering(request, at: place(address, isHere: false), refused: refused) {
            let isKnown = try await pages.store.read { [service = pages.service] _ in
                try service.isKnown(address.source)
            }
            guard isKnown else { return pages.missing("There is no such source.") }
            return try await body()
        }
    }

    private func view(_ plan: CorrectionPlan, _ address: CorrectionAddress) -> View {
        let action = pages.mayChange ? address.address(apply: plan.digest) : nil
        switch plan.content {
        case .purge(let report):
            let rows = plan.counts.deleted
            var view = ReviewView.view(
                report,
                does: (rows > 0 ? "Delete \(Figures.count(rows, "row")) and the state of " : "Delete the state of ")
                    + address.source,
                action: action, promise: Self.promise)
            view.note("Its validators, due time and kept bodies are deleted.")
            if pages.service.configuration[source: address.source]?.isEnabled == true {
                view.note("The source is still declared, so its next run fetches everything.")
            }
            return view
        case .rows(let review, let stack):
            var view = ReviewView.view(
                review, address.part, showsRows: pages.showsRows, action: review.tables.isEmpty ? nil : action,
                promise: Self.promise
            ) { address.address($0, suffix: $1) }
            if let blocked = stack?.blocked { view.note("A run would be blocked: \(blocked)") }
            for note in stack?.notes ?? [] { view.note(note) }
            if case .undo = address.correction {
                view.note(
                    "The source is then paused until its feed differs from the undone version or you resume it.")
            }
            return view
        }
    }
}
