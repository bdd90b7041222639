import FeedModel
import Ledger
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
        let asked = leases.uptime
        defer {
            leases.end(source, number, asked: asked)
            if number != nil { leaseKeeper.keep(self) }
        }
        try scratch.make()
        // Our own name in the table is that of a lease which was not given up in time, or whose claim was not answered. A
        // row that another transaction has locked is not waited for: it is asked for again.
        number = try ask { connection in
            try connection.executeOnLease(
                """
                WITH free AS (
                    SELECT source FROM tributary_source
                    WHERE source = $1 AND (holder IS NULL OR holder = $2 OR held_until < clock_timestamp())
                    FOR UPDATE SKIP LOCKED
                ), taken AS (
                    UPDATE tributary_source s
                    SET holder = $2, lease = s.lease + 1,
                        held_until = \(leases.leaseEnd)
                    FROM free WHERE s.source = free.source RETURNING s.lease
                ), added AS (
                    INSERT INTO tributary_source (source, holder, lease, held_until)
                    SELECT $1, $2, 1, \(leases.leaseEnd)
                    WHERE NOT EXISTS (SELECT 1 FROM tributary_source WHERE source = $1)
                    ON CONFLICT (source) DO NOTHING RETURNING lease
                )
                SELECT lease FROM taken UNION ALL SELECT lease FROM added
                """, [.text(source), .text(leases.holder)]
            ).first?.int64(0)
        }
        return number.map { SourceLease(source, number: $0, in: self) }
    }

    /// Renews every lease of this store that has not ended. A run whose lease has gone to another can commit nothing.
    ///
    /// - Throws: ``StoreError``
    func renewLeases() throws {
        let sources = leases.sources
        guard !sources.isEmpty else { return }
        let asked = leases.uptime
        let renewed = try ask(by: leaseConnections) { connection in
            // A lease whose row is locked by its own commit cannot be taken meanwhile, and is renewed by it.
            try connection.execute(
                """
                WITH held AS (
                    SELECT source FROM tributary_source
                    WHERE source = ANY ($1) AND holder = $2 AND held_until >= clock_timestamp() FOR UPDATE SKIP LOCKED
                )
                UPDATE tributary_source s
                SET held_until = \(leases.leaseEnd)
                FROM held WHERE s.source = held.source RETURNING s.source
                """, [.textArray(try PostgresTextArray(sources)), .text(leases.holder)]
            ).compactMap { $0.string(0) }
        }
        for source in renewed { leases.renew(source, asked: asked) }
    }

    func release(_ lease: Lease, of source: String) throws {
        try ask { connection in
            _ = try connection.executeOnLease(
                """
                UPDATE tributary_source SET holder = NULL, held_until = NULL
                WHERE source = $1 AND holder = $2 AND lease = $3
                """, [.text(source), .text(lease.holder), .integer(lease.number)])
        }
    }
}

extension PostgresConnection {
    /// Executes a statement that takes or gives up a lease, without waiting for the server's disk. A server that crashes may
    /// forget it: a commit of a run whose claim was forgotten fails, and a lease that was not given up ends by itself.
    fileprivate func executeOnLease(_ sql: String, _ parameters: [PostgresValue?]) throws -> PostgresResult {
        try execute([
            PostgresStatement("SELECT set_config('synchronous_commit', 'off', true)", isPrepared: true),
            PostgresStatement(sql, parameters, isPrepared: true),
        ])[1]
    }
}
