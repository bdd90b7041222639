package import StoreSQL

/// The SQL of Tributary's own tables in a main store, over a connection of either database.
///
/// Each part reads and writes one table: ``runs``, ``sources``, ``requests``, ``changelog``, ``hooks``, ``acceptances``.
/// Statements are executed in the transaction that the session is in.
package struct Ledger {
    package let session: any SQLSession
    package let dialect: any LedgerDialect
    /// The leases of this process; nil for a store whose rows hold none.
    package let leases: (any LeaseTerms)?

    package init(_ session: any SQLSession, _ dialect: any LedgerDialect, leases: (any LeaseTerms)? = nil) {
        self.session = session
        self.dialect = dialect
        self.leases = leases
    }
}

/// The statements of one of Tributary's own tables.
protocol LedgerPart {
    var ledger: Ledger { get }
}

extension LedgerPart {
    var session: any SQLSession { ledger.session }
    var dialect: any LedgerDialect { ledger.dialect }
}

/// The leases of one process, on a store that several processes share.
package protocol LeaseTerms: Sendable {
    /// The name under which this process holds leases.
    var holder: String { get }
    /// The time until which a lease on a source holds that is taken or renewed now, in SQL.
    var leaseEnd: String { get }
    /// The time until which a lease on a hook holds that is taken or renewed now, in SQL.
    var hookEnd: String { get }
    /// The condition that no other process can be using a hook, in SQL.
    var isHookUnused: SQLText { get }
    /// Returns the lease under which this process runs a source; nil if it runs without one.
    func lease(of source: String) -> Lease?
}

/// The lease on a source, as its row in `tributary_source` holds it.
package struct Lease: Sendable, Equatable {
    package var holder: String
    /// The fencing token: it grows with each lease of the source.
    package var number: Int64

    package init(holder: String, number: Int64) {
        self.holder = holder
        self.number = number
    }

    /// The condition that a row of `tributary_source`, `s`, still holds the lease.
    var isHeld: SQLText { "s.holder = \(bind: holder) AND s.lease = \(bind: number)" }
}
