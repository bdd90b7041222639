package import Foundation

/// How far a hook has come: a row of `tributary_hook`.
package struct HookState: Sendable, Equatable {
    package var name: String
    /// The last run that was dealt with.
    package var position: RunPosition
    /// The first of the run's possible events that is not dealt with yet; 0 if all are.
    package var step = 0
    package var deliveredAt: Date?
    /// How often the next event could not be delivered.
    package var attempts = 0
    package var nextAttempt: Date?
    /// Why the last attempt failed.
    package var error: String?
    /// The declaration whose receiver has said that it wants nothing any more (410).
    package var gone: String?
    /// The event that depends on the time and is to be delivered before those of later runs, as JSON.
    package var pending: String?

    package init(name: String, position: RunPosition) {
        self.name = name
        self.position = position
    }
}

/// The conditions of a source that a hook has been notified of and that have not ended.
package struct HookMemory: Sendable, Equatable {
    /// True if it knows that the source fails.
    package var isFailing = false
    /// True if it knows that a run of the source was blocked.
    package var isBlocked = false
    /// True if it knows that the source is stale.
    package var isStale = false

    package init(isFailing: Bool = false, isBlocked: Bool = false, isStale: Bool = false) {
        self.isFailing = isFailing
        self.isBlocked = isBlocked
        self.isStale = isStale
    }
}

/// The progress of a hook after an event was delivered, or passed over.
package struct HookProgress: Sendable {
    package var position: RunPosition
    package var step: Int
    /// nil if nothing was delivered.
    package var deliveredAt: Date?
    /// The source whose conditions, as the hook knows them, have changed.
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

/// A failed attempt to deliver an event.
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

/// A source whose last run was not good.
package struct FailingSource: Sendable, Equatable {
    package var source: String
    /// The start of the first of the consecutive failed runs.
    package var since: Date
    /// Why the last one has failed.
    package var error: String?

    package init(source: String, since: Date, error: String?) {
        self.source = source
        self.since = since
        self.error = error
    }
}

/// The position of a run in the order in which hooks receive runs. A reader of all runs up to a position has missed
/// none: runs that are recorded later come after it.
///
/// In SQLite, runs are recorded one after another, and the order is that of their ids. PostgreSQL assigns ids before
/// the commit, so a later run may become visible earlier. There the order is that of the recording transactions, and
/// only transactions older than every open one are read.
package struct RunPosition: Sendable, Hashable, Comparable {
    /// The place before all runs.
    package static let start = RunPosition(run: 0)

    /// The transaction that recorded the run (`xid8`); 0 in a file.
    package var transaction: UInt64
    package var run: Int64

    package init(transaction: UInt64 = 0, run: Int64) {
        self.transaction = transaction
        self.run = run
    }

    /// The position as text: `0.41`.
    package var text: String { "\(transaction).\(run)" }

    /// - Returns: nil for a text that ``text`` does not give.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let transaction = UInt64(parts[0]), let run = Int64(parts[1]), run >= 0 else {
            return nil
        }
        self.init(transaction: transaction, run: run)
    }

    package static func < (left: RunPosition, right: RunPosition) -> Bool {
        (left.transaction, left.run) < (right.transaction, right.run)
    }
}
