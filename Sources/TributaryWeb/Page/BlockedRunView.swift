import FeedConfiguration
import FeedModel
import FeedStores
import TributaryEngine

/// The state of a run that was blocked.
enum BlockedRunState {
    /// It waits to be accepted: itself, or a later run that had the same documents and changes.
    case waiting(ChangeReview, run: Int64)
    /// It waits, and nobody here knows what it would change.
    case unknown
    case replaced(by: Int64)
    case accepted(by: Int64)
    /// A later feed was fetched, which exceeds no limit.
    case overtaken(by: Int64)
    case forgotten

    /// Reads it; blocks its thread.
    ///
    /// - Returns: nil for a run that was not blocked.
    /// - Throws: `StoreError`.
    init?(
        _ run: RunReport, next: RunReport?, in store: any MainStore, _ configuration: TributaryConfiguration
    ) throws {
        guard run.outcome == .blocked, run.kind == nil, let number = run.number else { return nil }
        if let waiting = try configuration.waitingRun(for: number, of: run.source, in: store) {
            self = configuration.review(of: run).map { .waiting($0, run: waiting) } ?? .unknown
        } else if let waiting = try store.read({ try $0.runs.blocked(of: run.source) })?.number, waiting > number {
            self = .replaced(by: waiting)
        } else if let next, let committed = next.number {
            // Documents that were kept are not requested, so no server has answered.
            let isOfKept =
                next.outcome == .committed
                && next.requests.contains { $0.outcome == .parsed }
                && next.requests.allSatisfy { $0.outcome != .parsed || $0.status == nil }
            self = isOfKept ? .accepted(by: committed) : .overtaken(by: committed)
        } else {
            self = .forgotten
        }
    }
}

extension BlockedRunState {
    /// Returns the state of a run that cannot be accepted, as the templates show it; nil for a run that waits, and can be
    /// reviewed.
    func view(of source: String) -> View? {
        func link(_ name: String, _ run: Int64) -> Link {
            Link(name: name, address: PageAddress.path(source, "/runs/\(run)"))
        }
        return switch self {
        case .waiting: nil
        case .unknown:
            [
                "text":
                    "It waits to be accepted. This daemon cannot show its changes: its documents were not kept, or are "
                    + "on another machine."
            ]
        case .replaced(let run):
            ["text": "Run \(run) replaces this one.", "link": link("Review run \(run)", run)]
        case .accepted(let run):
            ["text": "Its documents were accepted.", "link": link("Run \(run) committed them", run)]
        case .overtaken(let run):
            ["text": "It was not accepted. A later feed was within the limits.", "link": link("Run \(run)", run)]
        case .forgotten: ["text": "It no longer waits to be accepted, and its documents are deleted."]
        }
    }
}
