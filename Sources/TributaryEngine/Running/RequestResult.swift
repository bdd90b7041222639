import FeedModel
import FeedStaging
import FeedStores

/// The result of one request so far, while its run goes on.
struct RequestResult: Sendable {
    var report: RequestReport
    /// The request's state, which is stored if the run is good.
    var state: RequestState?

    init(key: String) { report = RequestReport(key: key, outcome: .skipped) }
}
