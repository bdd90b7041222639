package import Foundation
import PostgresClient

/// Due times and waits, where clocks were wrong.
extension PostgresStore {
    /// Cuts due times, and the waits that hosts asked for, to the waits that were decided when they were stored. A
    /// clock that was wrong at that moment may have put them years ahead.
    package func cutWaits(to now: Date) throws { try write { try Self.cutWaits(to: now, from: now, $0) } }

    /// Does the same as ``cutWaits(to:)`` without blocking the caller's thread, for a clock that was set back from
    /// `former` to `now`. A time stored by the former clock keeps its remaining wait.
    package func cutWaits(to now: Date, setBackFrom former: Date) async throws {
        try await writeInGroup { connection in
            try Self.cutWaits(to: now, from: former, connection)
            return nil
        }
    }

    /// Cuts due times and waits. A server may ask for a week at most; a time stored without its wait counts as a week.
    private static func cutWaits(to now: Date, from former: Date, _ connection: PostgresConnection) throws {
        let times = [PostgresDate.value(now), PostgresDate.value(former)]
        try connection.execute(
            """
            WITH waits AS (
                SELECT source, coalesce(
                    wait,
                    CASE WHEN last_run IS NOT NULL THEN greatest(0, extract(epoch FROM next_due - last_run)) END,
                    604800)::double precision AS seconds
                FROM tributary_source WHERE next_due > $1::timestamptz AND gone IS NULL)
            UPDATE tributary_source s SET wait = w.seconds,
                next_due = $1::timestamptz + interval '1 second'
                    * least(w.seconds, greatest(0, extract(epoch FROM s.next_due - $2::timestamptz)))
            FROM waits w WHERE w.source = s.source
            AND extract(epoch FROM s.next_due - $1::timestamptz) > w.seconds + 1
            """, times)
        try connection.execute(
            """
            UPDATE tributary_source SET asked_until = $1::timestamptz + interval '604800 seconds'
            WHERE asked_until > $1::timestamptz + interval '604800 seconds'
            """, [times[0]])
        try connection.execute(
            """
            UPDATE tributary_host SET not_before = $1::timestamptz + interval '1 second' * coalesce(wait, 604800)
            WHERE not_before > $1::timestamptz + interval '1 second' * (coalesce(wait, 604800) + 1)
            """, [times[0]])
    }
}
