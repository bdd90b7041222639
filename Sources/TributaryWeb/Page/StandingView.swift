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

    /// The time at which it is due, or a word in its place.
    var due: (Date?, String?) {
        if let word = dueWord { return (nil, word) }
        return state.nextDue == .distantFuture ? (nil, "never") : (state.nextDue, state.nextDue == nil ? "now" : nil)
    }
}
