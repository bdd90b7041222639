import FeedModel
import Foundation
import TributaryEngine

/// How a source stands, as the templates show it.
struct StandingView {
    /// The name of a class of `page.css`.
    var kind: String
    var word: String
    var since: TimeView?
    var failures: Int?
    var isRunning: Bool

    init(_ source: SourceStatus, isRunning: Bool) {
        let condition = source.condition
        kind = condition.rawValue
        word = condition.rawValue
        since = source.state.failingSince.map(TimeView.init)
        failures = source.state.failures > 1 ? source.state.failures : nil
        self.isRunning = isRunning
    }
}

extension SourceStatus {
    /// When the last good run ended.
    var lastSuccess: Date? { state.lastGood }

    /// The time at which it is due, or a word in its place.
    var due: (TimeView?, String?) {
        switch condition {
        case .off, .undeclared, .gone: (nil, "never")
        case .paused where state.isStopped: (nil, "after resume")
        default:
            switch state.nextDue {
            case nil: (nil, "now")
            case .distantFuture?: (nil, "never")
            case let due?: (TimeView(due), nil)
            }
        }
    }
}
