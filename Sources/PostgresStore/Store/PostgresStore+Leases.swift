import FeedModel
import PostgresClient

/// The right to run a source.
extension PostgresStore {
    /// Claims the right to run a source.
    ///
    /// - Returns: nil while another run holds it, in this process or another.
    /// - Throws: ``StoreError``
    func lease(of source: String) throws -> SourceLease? {
        guard leases.begin(source) else { return nil }
        var number: Int64?
        let asked = ContinuousClock.now
        defer { leases.end(source, number, asked: asked) }
        try scratch.make()
        // Our own name in the table is that of a lease which was not given up in time, or whose claim was not answered.
        // Rows that a commit has locked are not waited for, as their leases are in force.
        number = try ask { connection in
            try connection.execute(
                """
                INSERT INTO tributary_source AS s (source, holder, lease, held_until)
                SELECT $1, $2, 1, clock_timestamp() + interval '\(Leases.seconds) seconds'
                WHERE NOT EXISTS (
                    SELECT 1 FROM tributary_source
                    WHERE source = $1 AND holder <> $2 AND held_until >= clock_timestamp())
                ON CONFLICT (source) DO UPDATE
                SET holder = EXCLUDED.holder, lease = s.lease + 1, held_until = EXCLUDED.held_until
                WHERE s.holder IS NULL OR s.holder = EXCLUDED.holder OR s.held_until < clock_timestamp()
                RETURNING lease
                """, [.text(source), .text(leases.holder)]
            ).first?.int64(0)
        }
        guard let number else { return nil }
        leaseKeeper.keep(self)
        return SourceLease(source, number: number, in: self)
    }

    /// Renews every lease of this store that has not ended.
    ///
    /// - Returns: the sources whose leases have gone to others; their runs can commit nothing any more.
    /// - Throws: ``StoreError``
    @discardableResult
    package func renewLeases() throws -> [String] {
        let sources = leases.sources
        guard !sources.isEmpty else { return [] }
        let asked = ContinuousClock.now
        return try ask { connection in
            // A lease whose row is locked by its own commit cannot be taken meanwhile, and is renewed at its end.
            try connection.execute(
                """
                WITH held AS (
                    SELECT source FROM tributary_source
                    WHERE source = ANY ($1) AND holder = $2 AND held_until >= clock_timestamp() FOR UPDATE SKIP LOCKED
                ), renewed AS (
                    UPDATE tributary_source s
                    SET held_until = clock_timestamp() + interval '\(Leases.seconds) seconds'
                    FROM held WHERE s.source = held.source RETURNING s.source
                )
                SELECT asked.source, renewed.source IS NOT NULL, s.holder IS DISTINCT FROM $2
                FROM unnest($1::text[]) AS asked (source)
                LEFT JOIN renewed ON renewed.source = asked.source
                LEFT JOIN tributary_source s ON s.source = asked.source
                """, [.textArray(try PostgresTextArray(sources)), .text(leases.holder)]
            ).compactMap { row in
                let source = row.string(0) ?? ""
                if try row.bool(1) == true { leases.renew(source, asked: asked) }
                return try row.bool(2) == true ? source : nil
            }
        }
    }

    func release(_ lease: Leases.Lease, of source: String) throws {
        try ask { connection in
            _ = try connection.execute(
                """
                UPDATE tributary_source SET holder = NULL, held_until = NULL
                WHERE source = $1 AND holder = $2 AND lease = $3
                """, [.text(source), .text(lease.holder), .integer(lease.number)])
        }
    }
}
