import FeedConfiguration
import FeedModel
import FeedStores
import HTTPTypes
import TributaryEngine

/// The reason why a request is not answered: the same status and message for programs and for people.
struct RequestFailure {
    let status: HTTPResponse.Status
    let message: String
    /// The heading of a page; nil for that of the status.
    private(set) var title: String?
    /// The blocked run that waits in place of the one that was to be accepted.
    private(set) var waiting: Int64?

    /// - Parameters:
    ///   - refused: the heading of a page whose operation is refused; nil for that of the status.
    ///   - redactor: removes secrets from messages of the store.
    /// - Returns: nil for an error that is not an answer: a cancellation, or a defect.
    init?(_ error: any Error, refused: String? = nil, redactor: Redactor) {
        switch error {
        case let problem as Query.Problem:
            (status, message) = (problem.status, problem.message)
        case let problem as RowQuery.Problem:
            (status, message) = (problem.isLate ? .serviceUnavailable : .badRequest, problem.description)
            title = problem.isLate ? "The search took too long" : nil
        case let refusal as Refusal:
            (status, message) = (refusal.isBusy ? .serviceUnavailable : .conflict, refusal.description)
            title = refusal.isBusy ? "Busy: try again in a moment" : refused
            waiting = refusal.waiting
        case let error as StoreError:
            (status, message) = (.serviceUnavailable, redactor.redact(error.message))
            title = "The store cannot be used"
        default: return nil
        }
    }
}
