import FeedModel
import FeedStores
import Foundation

/// The documents of a blocked run. Once it is accepted, the next run commits them, and fetches nothing.
struct BlockedRun: Codable, Sendable {
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
    /// What its commit would have done, and was not allowed to; nil where an earlier release has written this.
    var exceeded: [ExceededLimit]?
    /// What tells whether another commit would make the same changes; nil where they could not be found out.
    var shown: ChangeDigest?
    /// The counts of these changes.
    var counts: MergeCounts?

    /// Returns true where a recorded run is this one.
    func isRecorded(as run: RunReport) -> Bool {
        // Stores keep milliseconds.
        abs(run.startedAt.timeIntervalSince(startedAt)) < 0.002
    }

    /// Returns true where another run was answered with the same documents, and would have changed the same rows.
    func isSame(as other: BlockedRun) -> Bool {
        declared == other.declared && requests.count == other.requests.count && shown == other.shown
            && ExceededLimit.areEqual(exceeded ?? [], other.exceeded ?? [])
            && zip(requests, other.requests).allSatisfy { request, other in
                switch (request.bodies, other.bodies) {
                case (let bodies?, let others?): request.key == other.key && BodyFolder.holdTheSame(bodies, others)
                case (nil, nil): request.key == other.key
                default: false
                }
            }
    }
}

/// The kept bodies from which a run is made instead of from responses.
struct KeptStack: Sendable {
    /// The names of the bodies, by the requests' keys, the oldest first.
    var names: [String: [String]]
    /// The blocked run that was accepted; nil for a replay.
    var blocked: BlockedRun?

    func request(_ key: String) -> BlockedRun.Request? { blocked?.requests.first { $0.key == key } }
}
