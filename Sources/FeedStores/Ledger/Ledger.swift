/// The SQL of Tributary's own tables in a main store, over a connection of either database.
///
/// Each part reads and writes one table: ``runs``, ``sources``, ``requests``, ``changelog``, ``hooks``, ``acceptances``.
/// Statements are executed in the transaction that the session is in.
package struct Ledger {
    package let session: any SQLSession
    package let dialect: any LedgerDialect
    /// The leases of this process; nil for a store whose rows hold none.
    package let leases: Leases?

    package init(_ session: any SQLSession, _ dialect: any LedgerDialect, leases: Leases? = nil) {
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

    /// Returns the columns of a SELECT.
    func columns<Row>(_ reader: RowReader<Row>) -> String { reader.columns(dialect.tables) }

    /// Reads the columns of a result, from one on.
    func read<Row>(_ reader: RowReader<Row>, _ row: any SQLRow, from first: Int = 0) throws -> Row {
        try reader.row(row, dialect.tables, from: first)
    }
}
