import FeedConfiguration
import Hummingbird
import Logging
import TributaryEngine

/// The buttons.
extension Pages {
    func act(_ request: Request) async throws -> Response {
        try await answering(request, refused: "Nothing was accepted") {
            // A source that is no longer declared can be undone and purged.
            if let correction = try CorrectionAddress(request) {
                return try await CorrectionPages(pages: self).apply(correction, request)
            }
            let names = request.names
            guard names.count == 3, let source = service.configuration[source: names[1]] else {
                return missing("There is no such source.")
            }
            let (name, action) = (source.name, names[2])
            guard source.isEnabled else {
                throw Query.Problem("Source '\(name)' is disabled (enabled = false).", .conflict)
            }
            let done: String
            switch action {
            case "refresh":
                let stopped = try await store.read { [service] _ in try service.refreshUnlessStopped([name]) }
                done = stopped == nil ? "refresh" : "is-paused"
            case "accept":
                guard let run = try Query(request).number("run").map(Int64.init) else {
                    throw Query.Problem(
                        "The address names no run. Open the page of the blocked run, and accept it there.")
                }
                _ = try await store.write { [service] _ in try service.accept([name], run: run) }
                done = "accept"
            case "pause":
                let isPaused = try await store.write { [service] _ in try !service.pause([name]).isEmpty }
                // From the page of a correction, back to it.
                if let then = try Query(request)["then"].flatMap({ try CorrectionAddress($0) }), then.source == name {
                    logger.notice("\(name): pause requested on the page")
                    return .seeOther(then.address(then.part))
                }
                done = isPaused ? "pause" : "was-paused"
            case "resume":
                let isResumed = try await store.write { [service] _ in try !service.resume([name]).isEmpty }
                done = isResumed ? "resume" : "not-paused"
            default: throw Query.Problem("There is no such page.", .notFound)
            }
            logger.notice("\(name): \(action) requested on the page")
            return .seeOther(PageAddress.path(name, "?done=\(done)"))
        }
    }

    /// Sends the event again at once that a hook's receiver did not take: `/hooks/NAME/retry`.
    func retry(_ request: Request) async throws -> Response {
        try await answering(request) {
            let names = request.names
            guard names.count == 3, names[2] == "retry",
                service.configuration.hooks.contains(where: { $0.name == names[1] })
            else { throw Query.Problem("There is no such hook.", .notFound) }
            let isRetried = try await store.write { [service] _ in try service.retryHook(names[1]) }
            logger.notice("The hook '\(names[1])': retry requested on the page")
            return .seeOther(DaemonPage.path + "?done=" + (isRetried ? "retry" : "not-failed"))
        }
    }

    /// The notices of what buttons have done.
    static let notices = [
        "refresh": "Refresh queued; it starts when a slot is free.",
        "accept": "The documents of the blocked run are being committed; nothing is fetched.",
        "pause": "It is paused: nothing is fetched until you resume it.",
        "is-paused": "It is paused, and is refreshed once you resume it.",
        "was-paused": "It was already paused.",
        "resume": "It is resumed; a refresh is queued.",
        "not-paused": "It was not paused.",
        "retry": "The event is being sent again.",
        "not-failed": "The hook has no failed event.",
        "undo": "Its rows are restored. The source is paused until its feed differs or you resume it.",
        "replay": "The kept bodies were read again, and the differences are committed.",
        "purge": "The source's rows and state are deleted.",
    ]
}
