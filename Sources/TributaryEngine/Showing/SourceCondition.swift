import FeedDeclarations
import FeedModel

/// How a source stands, in a word. The worst come first.
package enum SourceCondition: String, Sendable, CaseIterable, Comparable {
    /// Its commit would change more rows than allowed, and waits for `accept`.
    case heldBack = "held back"
    /// Processes died during its runs, and it waits for `release`.
    case held
    case failing
    /// Its server said that it is gone for good (410).
    case gone
    /// Its rows were brought back, and stay until its feed differs.
    case undone
    case new
    case good = "up to date"
    case off = "switched off"
    case undeclared = "not declared"

    package static func < (left: SourceCondition, right: SourceCondition) -> Bool {
        (allCases.firstIndex(of: left) ?? 0) < (allCases.firstIndex(of: right) ?? 0)
    }
}

extension SourceStatus {
    package var condition: SourceCondition {
        guard let declaration else { return .undeclared }
        guard declaration.isEnabled else { return .off }
        if state.isHeldBack { return .heldBack }
        if state.isHeld { return .held }
        if state.gone != nil { return .gone }
        if state.failures > 0 { return .failing }
        if state.undone != nil { return .undone }
        return state.outcome == nil ? .new : .good
    }

    /// True where `release` lets it run again.
    package var mayBeReleased: Bool { state.isHeld || state.undone != nil }
}
