import FeedConfiguration
import FeedModel
import FeedStores
import TributaryEngine

/// The state of a run that was blocked.
enum BlockedRunState {
    /// It waits to be accepted: itself, or a later run that had the same documents and changes.
    case waiting(ChangeReview, run: Int64)
    /// It cannot be accepted here: why, and which run counts in its place, as the templates show it.
    case over(View)

    /// Reads it; blocks its thread.
    ///
    /// - Returns: nil for a run that was not blocked.
    /// - Throws: `StoreError`.
    init?(
        _ run: RunReport, next: RunReport?, in store: any MainStore, _ configuration: TributaryConfiguration
    ) throws {
        guard run.outcome == .blocked, run.kind == nil, let number = run.number else { return nil }
        func over(_ text: String, _ name: String, _ number: Int64) -> Self {
            let link = Link(name: name, address: PageAddress.path(run.source, "/runs/\(number)"))
            return .over(["text": text, "link": link])
        }
        if let waiting = try configuration.waitingRun(for: number, of: run.source, in: store) {
            self =
                configuration.review(of: run).map { .waiting($0, run: waiting) }
                ?? .over([
                    "text":
                        "It waits to be accepted. This daemon cannot show its changes: its documents were not kept, or are "
                        + "on another machine."
                ])
        } else if let waiting = try store.read({ try $0.runs.blocked(of: run.source) })?.number, waiting > number {
            self = over("Run \(waiting) replaces this one.", "Review run \(waiting)", waiting)
        } else if let next, let committed = next.number {
            // Documents that were kept are not requested, so no server has answered.
            let isOfKept =
                next.outcome == .committed
                && next.requests.contains { $0.outcome == .parsed }
                && next.requests.allSatisfy { $0.outcome != .parsed || $0.status == nil }
            self =
                isOfKept
                ? over("Its documents were accepted.", "Run \(committed) committed them", committed)
                : over("It was not accepted. A later feed was within the limits.", "Run \(committed)", committed)
        } else {
            self = .over(["text": "It no longer waits to be accepted, and its documents are deleted."])
        }
    }
}
