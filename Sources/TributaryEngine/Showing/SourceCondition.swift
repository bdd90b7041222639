import FeedDeclarations
import FeedModel

/// The state of a source, in a word. The worst come first.
package enum SourceCondition: String, Sendable, CaseIterable, Comparable {
    /// A run exceeded a change limit or missed an expectation, and waits for `accept`.
    case blocked
    /// Nothing is fetched, or the feed is not taken, until `resume`.
    case paused
    case failing
    /// Its server answered 410.
    case gone
    case new
    case ok
    case off
    case undeclared

    package static func < (left: SourceCondition, right: SourceCondition) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension SourceStatus {
    package var condition: SourceCondition {
        guard let declaration else { return .undeclared }
        guard declaration.isEnabled else { return .off }
        if state.isBlocked { return .blocked }
        if state.isPaused { return .paused }
        if state.gone != nil { return .gone }
        if state.failures > 0 { return .failing }
        return state.outcome == nil ? .new : .ok
    }

    /// True for a source that needs attention.
    package var isProblem: Bool { condition <= .gone || isStale }
}
