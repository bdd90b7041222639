import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import TributaryEngine

/// The buttons.
extension Pages {
    func act(_ request: Request) async throws -> Response {
        let parts = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 3, let source = service.configuration[source: parts[1]] else {
            do {
                // A source that is no longer declared can be undone and purged.
                guard let correction = try CorrectionAddress(request) else {
                    return missing("There is no such source.")
                }
                return try await CorrectionPages(pages: self).apply(correction)
            } catch let problem as Query.Problem {
                return missing(problem.message, problem.status)
            }
        }
        let name = source.name
        let place = [Layout.Place(name: name, address: PageAddress.path(name), isHere: false)]
        let done: String
        do {
            if let correction = try CorrectionAddress(request) {
                return try await CorrectionPages(pages: self).apply(correction)
            }
            guard source.isEnabled else {
                return missing("Source '\(name)' is disabled (enabled = false).", .conflict, at: place)
            }
            switch parts[2] {
            case "refresh":
                try await store.read { [service] _ in try service.refreshEverywhere([name]) }
                done = "refresh"
            case "accept":
                guard let run = try Query(request).number("run").map(Int64.init) else {
                    throw Query.Problem(
                        "The address names no run: accept one on its own page, which shows its changes.")
                }
                _ = try await store.write { [service] _ in try service.accept([name], run: run) }
                done = "accept"
            case "resume":
                let isResumed = try await store.write { [service] _ in try !service.resume([name]).isEmpty }
                done = isResumed ? "resume" : "not-paused"
            default: return missing("There is no such page.", at: place)
            }
        } catch let problem as Query.Problem {
            return missing(problem.message, problem.status, at: place)
        } catch let refusal as AcceptanceRefusal {
            return missing(
                refusal.description, .conflict, title: "Nothing was accepted", at: place,
                links: refusal.waiting.map {
                    [Layout.Link(name: "Review run \($0)", address: PageAddress.path(name, "/runs/\($0)"))]
                } ?? [])
        } catch let error as StoreError {
            return failed(error, at: place)
        }
        logger.notice("\(name): \(parts[2]) was asked for on the page")
        return .seeOther(PageAddress.path(name, "?done=\(done)"))
    }

    /// Sends the event again at once that a hook's receiver did not take: `/hooks/NAME/retry`.
    func retry(_ request: Request) async throws -> Response {
        let place = [Layout.Place(name: "Daemon", address: DaemonPage.path, isHere: false)]
        let parts = request.uri.path.split(separator: "/").map { $0.removingPercentEncoding ?? String($0) }
        guard parts.count == 3, parts[2] == "retry",
            service.configuration.hooks.contains(where: { $0.name == parts[1] })
        else { return missing("There is no such hook.", at: place) }
        do {
            let isRetried = try await store.write { [service] _ in try service.retryHook(parts[1]) }
            logger.notice("The hook '\(parts[1])' was to send again, by the page")
            return .seeOther(DaemonPage.path + "?done=" + (isRetried ? "retry" : "not-failed"))
        } catch let error as StoreError {
            return failed(error, at: place)
        }
    }

    static func doneText(_ done: String?) -> String? {
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
}
