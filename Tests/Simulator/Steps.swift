/// What a seed does to a simulation: the faults that fire, what operators do, and what publishers change.
///
/// A step has the same name in each run of its seed, whatever other steps there are. So a failure is shown by the fewest of
/// them: a run can be given those that it may take.
package final class Steps {
    package struct Step: Sendable {
        package let name: String
        package let time: Duration
        /// What it does, for people.
        package let what: String
    }

    private let only: Set<String>?
    private let onStep: ((Step) -> Void)?
    /// The steps that were taken, in their order.
    private(set) var taken: [Step] = []
    /// The time of the simulation.
    var now: () -> Duration = { .zero }

    /// - Parameters:
    ///   - only: the names of the steps that may be taken; nil for all.
    ///   - onStep: called with each step before it is taken.
    package init(only: Set<String>? = nil, onStep: ((Step) -> Void)? = nil) {
        self.only = only
        self.onStep = onStep
    }

    /// Returns true where a step is to be taken.
    func take(_ name: String, _ what: @autoclosure () -> String = "") -> Bool {
        guard only?.contains(name) ?? true else { return false }
        let step = Step(name: name, time: now(), what: what())
        taken.append(step)
        onStep?(step)
        return true
    }
}

extension Steps.Step: CustomStringConvertible {
    package var description: String { "\(Trace.written(time)) \(name)\(what.isEmpty ? "" : ": \(what)")" }
}

/// What is wrong.
package struct Finding: Sendable {
    /// The rule that does not hold. A failure with fewer steps is the same one where the rule is the same.
    package enum Rule: String, Sendable {
        /// The rows of a table are those of the version for which the stored validators stand.
        case rows
        /// The changelog gives the keys of each table.
        case changelog
        /// One process runs a source.
        case claim
        /// Whoever commits holds the lease on the source.
        case fence
        /// A host is asked by as many at once, and as often, as it allows.
        case limits
        /// A redirect leads nobody into a private network.
        case privacy
        /// Events come to a hook in order, and only the last one again.
        case hook
        /// After a power failure the store is whole, and has all that was committed.
        case durability
        /// All is well within some hours once nothing goes wrong any more.
        case liveness
        /// No source waits longer than its declaration and its servers say, whatever the clocks have been.
        case due
        /// A daemon goes on.
        case end
        /// What somebody has asked for does not happen.
        case sought
    }

    package let rule: Rule
    package let text: String

    package init(_ rule: Rule, _ text: String) {
        self.rule = rule
        self.text = text
    }
}
