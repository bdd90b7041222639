package import Foundation

/// How far a hook has come: a row of `tributary_hook`.
package struct HookState: Sendable, Equatable {
    package var name: String
    /// The last run that was dealt with.
    package var position: RunPosition
    /// The first of the run's possible events that is not dealt with yet; 0 where all are.
    package var step = 0
    package var deliveredAt: Date?
    /// How often the next event could not be delivered.
    package var attempts = 0
    package var nextAttempt: Date?
    /// Why the last attempt failed.
    package var error: String?
    /// The declaration whose receiver has said that it wants nothing any more (410).
    package var gone: String?

    package init(name: String, position: RunPosition) {
        self.name = name
        self.position = position
    }

    /// The columns of the table in both stores, in the order in which they are read, after the position.
    package static let columns = ["name", "step", "delivered_at", "attempts", "next_attempt", "error", "gone"]
}

/// What a hook has been told of a source, and not yet the end of.
package struct HookMemory: Sendable, Equatable {
    /// True where it knows that the source fails.
    package var isFailing = false
    /// True where it knows that a commit of the source was held back.
    package var isHeld = false

    package init(isFailing: Bool = false, isHeld: Bool = false) {
        self.isFailing = isFailing
        self.isHeld = isHeld
    }
}

/// What the store is told once an event has been delivered, or passed over.
package struct HookProgress: Sendable {
    package var position: RunPosition
    package var step: Int
    /// nil where nothing was delivered.
    package var deliveredAt: Date?
    /// The source of which the hook knows something else now.
    package var memory: (source: String, known: HookMemory)?

    package init(
        position: RunPosition, step: Int = 0, deliveredAt: Date? = nil,
        memory: (source: String, known: HookMemory)? = nil
    ) {
        self.position = position
        self.step = step
        self.deliveredAt = deliveredAt
        self.memory = memory
    }
}

/// What the store is told of an attempt that failed.
package struct HookFailure: Sendable {
    package var error: String
    package var attempts: Int
    package var nextAttempt: Date?
    package var gone: String?

    package init(error: String, attempts: Int, nextAttempt: Date?, gone: String? = nil) {
        self.error = error
        self.attempts = attempts
        self.nextAttempt = nextAttempt
        self.gone = gone
    }
}
