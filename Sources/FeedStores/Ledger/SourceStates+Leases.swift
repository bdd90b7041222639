/// The leases on sources, in the rows of `tributary_source`.
extension SourceStates {
    /// Takes the lease on a source that nobody else holds. A row that another transaction has locked is not waited for.
    ///
    /// - Returns: the number of the lease; nil while another process holds it.
    func take(_ source: String, _ holder: String, at origin: String?) throws -> Int64? {
        let end = dialect.now(plus: Leases.seconds)
        // Our own name in the table is that of a lease which was not given up in time, or whose claim was not answered.
        let free: SQLText = """
            free AS (
                SELECT s.source AS name FROM \(dialect.source) s
                WHERE s.source = \(bind: source)
                AND (s.holder IS NULL OR s.holder = \(bind: holder) OR s.held_until < \(dialect.now))\(dialect.lock("s", skips: true))
            )
            """
        let taking: SQLText = """
            UPDATE \(dialect.source) AS s SET holder = \(bind: holder), lease = s.lease + 1, held_until = \(end),
                origin = coalesce(\(bind: origin), s.origin)
            FROM free WHERE s.source = free.name RETURNING lease
            """
        let adding: SQLText = """
            INSERT INTO \(dialect.source) (source, holder, lease, held_until, origin)
            SELECT CAST(\(bind: source) AS text), CAST(\(bind: holder) AS text), 1, \(end), CAST(\(bind: origin) AS text)
            WHERE NOT EXISTS (SELECT 1 FROM \(dialect.source) s WHERE s.source = \(bind: source))
            ON CONFLICT (source) DO NOTHING RETURNING lease
            """
        guard dialect.combinesWrites else {
            return try number("WITH \(free) \(taking)") ?? number(adding)
        }
        return try number(
            """
            WITH \(free), taken AS (\(taking)), added AS (\(adding))
            SELECT lease FROM taken UNION ALL SELECT lease FROM added
            """)
    }

    private func number(_ sql: SQLText) throws -> Int64? {
        try session.all(sql.frequent) { try $0.int64(0) }.first.flatMap(\.self)
    }

    /// Renews leases that have not ended.
    ///
    /// - Returns: the sources whose leases were renewed.
    func renew(_ sources: [String], of holder: String) throws -> [String] {
        // A lease whose row is locked by its own commit cannot be taken meanwhile, and is renewed or given up by it.
        try session.all(
            """
            WITH held AS (
                SELECT s.source AS name FROM \(dialect.source) s
                WHERE \(dialect.isAmong("s.source", sources)) AND s.holder = \(bind: holder)
                AND s.held_until >= \(dialect.now)\(dialect.lock("s", skips: true))
            )
            UPDATE \(dialect.source) AS s SET held_until = \(dialect.now(plus: Leases.seconds))
            FROM held WHERE s.source = held.name RETURNING source
            """
        ) { $0.string(0) ?? "" }
    }

    func release(_ lease: Lease, of source: String) throws {
        let release: SQLText = """
            UPDATE \(dialect.source) AS s SET holder = NULL, held_until = NULL
            WHERE s.source = \(bind: source) AND \(lease.isHeld)
            """
        try session.execute(release)
    }
}
