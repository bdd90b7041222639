import FeedModel
import FeedStore

/// What is known of one request while its run goes on.
struct RequestResult: Sendable {
    var report: RequestReport
    /// What will be stored of the request if the run is good.
    var state: RequestState?

    init(key: String) { report = RequestReport(key: key, outcome: .skipped) }
}
