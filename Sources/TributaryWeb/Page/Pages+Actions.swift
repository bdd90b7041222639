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
            guard source.isEnabled else {
                throw Query.Problem("Source '\(source.name)' is disabled (enabled = false).", .conflict)
            }
            let name = names[2]
            guard let operation = SourceOperation.all.first(where: { $0.name == name }) else {
                throw Query.Problem("There is no such page.", .notFound)
            }
            let query = Query(request)
            let didChange = try await operation.perform(
                [source.name], query, isOnPage: true, by: service, store
            ).didChange
            logger.notice("\(source.name): \(name) requested on the page")
            // From the page of a correction, back to it.
            if let then = try query["then"].flatMap({ try CorrectionAddress($0) }), then.source == source.name {
                return .seeOther(then.address(then.part))
            }
            let word = didChange ? name : operation.notDone?.word ?? name
            return .seeOther(PageAddress.path(source.name, "?done=\(word)"))
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

    /// Returns the sentence about what a button has done.
    func notice(_ word: String) -> String? {
        SourceOperation.all.first { $0.name == word }?.done
            ?? SourceOperation.all.compactMap(\.notDone).first { $0.word == word }?.text
            ?? CorrectionOperation.all.first { $0.name == word }?.done ?? Self.notices[word]
    }

    private static let notices = [
        "retry": "The event is being sent again.",
        "not-failed": "The hook has no failed event.",
    ]
}
