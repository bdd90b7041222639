package import Foundation

/// The times until which sources and hosts are left alone: those of `tributary_source`, and `tributary_host`.
package struct Waits: LedgerPart {
    let ledger: Ledger

    /// The longest wait that a server may ask for, in seconds, and the assumed length of a stored wait without one.
    private static let longest = 604_800

    /// Returns the origins that asked for a pause, with the end of each pause. From `now`, no pause is longer than the
    /// origin asked for, even if a daemon whose clock is ahead recorded it.
    package func busyHosts(at now: Date) throws -> [String: Date] {
        var hosts: [String: Date] = [:]
        try session.forEachRow(of: "SELECT \(columns(OwnTables.hosts.reader)) FROM \(dialect.host)") { row in
            let host = try read(OwnTables.hosts.reader, row)
            hosts[host.origin] = min(host.notBefore, now + (host.wait ?? Double(Self.longest)))
            return true
        }
        return hosts
    }

    /// Records that an origin asked for a pause.
    func add(origin: String, notBefore: Date, wait: Double) throws {
        // Servers choose the names of origins, so expired entries are deleted.
        try session.execute("DELETE FROM \(dialect.host) WHERE not_before <= \(bind: notBefore - wait)")
        let row = HostRow(origin: origin, notBefore: notBefore, wait: wait)
        try session.execute(OwnTables.hosts.upsert(of: [row], dialect.tables))
    }

    /// Shortens due times, and the pauses of hosts, to the waits that were stored with them.
    ///
    /// - Parameters:
    ///   - former: the time by the clock before it was set back to `now`. Times stored by that clock keep their remaining
    ///     wait.
    ///   - sources: the only ones whose due times are shortened, and no pauses of hosts; nil for all.
    package func cut(to now: Date, from former: Date, of sources: [String]? = nil) throws {
        let (start, former) = (dialect.time(now), dialect.time(former))
        let known = dialect.seconds(from: "last_run", to: "next_due")
        let rest = dialect.seconds(from: former, to: "s.next_due")
        let isAmong: SQLText = sources.map { " AND \(dialect.isAmong("source", $0))" } ?? ""
        try session.execute(
            """
            WITH waits AS (
                SELECT source, coalesce(
                    wait, CASE WHEN last_run IS NOT NULL THEN \(dialect.greatest)(0, \(known)) END, \(Self.longest))
                    AS seconds
                FROM \(dialect.source) WHERE next_due > \(start) AND gone IS NULL\(isAmong))
            UPDATE \(dialect.source) AS s SET wait = w.seconds,
                next_due = \(dialect.time(start, plus: "\(dialect.least)(w.seconds, \(dialect.greatest)(0, \(rest)))"))
            FROM waits AS w
            WHERE w.source = s.source AND \(dialect.seconds(from: start, to: "s.next_due")) > w.seconds + 1
            """)
        guard sources == nil else { return }
        try session.execute(
            """
            UPDATE \(dialect.source) SET asked_until = \(dialect.time(start, plus: "\(Self.longest)"))
            WHERE \(dialect.seconds(from: start, to: "asked_until")) > \(Self.longest)
            """)
        try session.execute(
            """
            UPDATE \(dialect.host) SET not_before = \(dialect.time(start, plus: "coalesce(wait, \(Self.longest))"))
            WHERE \(dialect.seconds(from: start, to: "not_before")) > coalesce(wait, \(Self.longest)) + 1
            """)
    }
}

extension Ledger {
    package var waits: Waits { Waits(ledger: self) }
}
