import FeedModel
import Foundation

/// What a run has fetched whose commit was held back. Once it is accepted, the next run commits it, and fetches nothing.
struct HeldRun: Codable, Sendable {
    struct Request: Codable, Sendable {
        var key: String
        /// The name of its kept bodies; nil where it was unchanged, or only gave captures.
        var bodies: String?
        var validators = Validators()
        var digest: String?
        var movedTo: String?
        var movedTimes = 0
    }

    var startedAt: Date
    /// The identity of the declaration that the run followed.
    var declared: String
    var requests: [Request]

    /// Returns true where the last run of a source is this one.
    func isLast(_ state: SourceState) -> Bool {
        // Stores keep milliseconds. One that was accepted may have been stopped before its commit.
        (state.outcome == .discarded || state.outcome == .cancelled)
            && state.lastRun.map { abs($0.timeIntervalSince(startedAt)) < 0.002 } == true
    }
}

/// The kept bodies from which a run is made instead of from responses.
struct KeptStack: Sendable {
    /// The names of the bodies, by the requests' keys, the oldest first.
    var names: [String: [String]]
    /// The run that was held back; nil for a replay.
    var held: HeldRun?

    func request(_ key: String) -> HeldRun.Request? { held?.requests.first { $0.key == key } }
}
