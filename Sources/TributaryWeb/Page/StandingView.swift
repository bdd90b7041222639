import FeedModel
import Foundation
import TributaryEngine

extension SourceStatus {
    /// Returns how the source stands, as the templates show it.
    func standing(isRunning: Bool) -> View {
        [
            // The name of a class of `page.css`, too.
            "word": condition.rawValue, "since": state.failingSince,
            "failures": state.failures > 1 ? state.failures : nil, "isRunning": isRunning,
        ]
    }

    /// When the last good run ended.
    var lastSuccess: Date? { state.lastGood }

    /// The time at which it is due, or a word in its place.
    var due: (Date?, String?) {
        switch condition {
        case .off, .undeclared, .gone: (nil, "never")
        case .paused where state.isStopped: (nil, "after resume")
        default:
            switch state.nextDue {
            case nil: (nil, "now")
            case .distantFuture?: (nil, "never")
            case let due?: (due, nil)
            }
        }
    }
}
