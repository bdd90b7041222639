package import Foundation

/// The sums of a source's runs over one span of time. All spans have the same length.
package struct RunFigures: Sendable, Equatable {
    /// The span's position, counted from 0.
    package var span: Int
    package var committed = 0
    package var unchanged = 0
    package var discarded = 0
    package var blocked = 0
    package var cancelled = 0
    package var inserted = 0
    package var updated = 0
    package var deleted = 0
    package var bytes = 0
    /// The duration of the longest run.
    package var seconds = 0.0

    package init(span: Int) { self.span = span }

    package var runs: Int { committed + unchanged + failed + cancelled }
    package var failed: Int { discarded + blocked }
    package var changedRows: Int { inserted + updated + deleted }

    /// Adds the figures of other runs of the span.
    package mutating func add(_ other: RunFigures) {
        committed += other.committed
        unchanged += other.unchanged
        discarded += other.discarded
        blocked += other.blocked
        cancelled += other.cancelled
        inserted += other.inserted
        updated += other.updated
        deleted += other.deleted
        bytes += other.bytes
        seconds = max(seconds, other.seconds)
    }

    /// Returns the figures of unchanged polls that began in this span and ended in a later one, in equal intervals over
    /// the spans between.
    package func spread(to last: Int) -> [RunFigures] {
        let (total, count) = (unchanged, last - span + 1)
        guard count > 1, total > 1 else { return [self] }
        // With fewer polls than spans, the first and the last span still have one.
        let (spans, divisor) = total < count ? (count - 1, total - 1) : (count, total)
        func polls(before place: Int) -> Int { min(total, (place * divisor + spans - 1) / spans) }
        return (0..<count).compactMap { place in
            let share = polls(before: place + 1) - polls(before: place)
            guard share > 0 else { return nil }
            var part = RunFigures(span: span + place)
            part.unchanged = share
            part.bytes = bytes / total * share
            part.seconds = seconds
            return part
        }
    }

    /// The columns of the query in both stores, after that of the span.
    package static let columns = """
        count(CASE WHEN outcome = 'committed' THEN 1 END),
        CAST(sum(CASE WHEN outcome = 'unchanged' THEN polls ELSE 0 END) AS BIGINT),
        count(CASE WHEN outcome = 'discarded' THEN 1 END), count(CASE WHEN outcome = 'blocked' THEN 1 END),
        count(CASE WHEN outcome = 'cancelled' THEN 1 END),
        CAST(sum(inserted) AS BIGINT), CAST(sum(updated) AS BIGINT), CAST(sum(deleted) AS BIGINT),
        CAST(sum(bytes * polls) AS BIGINT), max(seconds)
        """
}

/// What the last runs of a source did, for those who look at many sources at once.
package struct RecentRuns: Sendable, Equatable {
    package struct Run: Sendable, Equatable {
        package var number: Int64
        package var outcome: RunOutcome
        package var startedAt: Date
        package var finishedAt: Date
        package var polls: Int
        /// The rows that it inserted, updated or deleted.
        package var changedRows: Int

        /// - Parameter finishedAt: when the last of several polls ended; nil for the beginning.
        package init(
            number: Int64, outcome: RunOutcome, startedAt: Date, finishedAt: Date? = nil, polls: Int = 1,
            changedRows: Int
        ) {
            self.number = number
            self.outcome = outcome
            self.startedAt = startedAt
            self.finishedAt = finishedAt ?? startedAt
            self.polls = polls
            self.changedRows = changedRows
        }
    }

    /// The last runs, the latest last.
    package var runs: [Run] = []
    /// The rows of the documents of the last commit; nil where it is forgotten, or there was none.
    package var rows: Int?
    /// The rows that changed since the time that was asked for.
    package var changedRows = 0

    package init() {}
}
