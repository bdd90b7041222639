package import FeedModel
package import Foundation

/// A database's SQL for the statements of ``Ledger``. Fragments are SQL, except for ``SQLText``, which binds its
/// values.
package protocol LedgerDialect: Sendable {
    /// The SQL of the tables' definitions.
    var tables: TableDialect { get }

    // MARK: Time

    /// The time at which the statement runs, to the millisecond.
    var now: String { get }

    /// Returns a point in time, wherever an expression may stand.
    func time(_ date: Date) -> SQLText

    /// Returns the time some seconds after another.
    func time(_ time: SQLText, plus seconds: SQLText) -> SQLText

    /// Returns the seconds from one time to a later one.
    func seconds(from start: SQLText, to end: SQLText) -> SQLText

    /// Returns the seconds since 1970.
    func epoch(_ column: String) -> String

    // MARK: Values

    /// Returns the largest integer that is not above a number that is not negative.
    func wholePart(_ number: SQLText) -> SQLText

    /// The functions that return the smallest and the largest of several values.
    var least: String { get }
    var greatest: String { get }

    /// Returns the condition that a column has one of these texts.
    func isAmong(_ column: String, _ texts: [String]) -> SQLText

    /// Returns an item of a FROM clause with the columns `source` and `key`.
    func unnested(_ requests: [RequestID], as alias: String) -> SQLText

    /// Returns the reports of a run's requests, without their durations, for a comparison with others.
    func withoutSeconds(_ requests: SQLText) -> SQLText

    // MARK: Order of runs

    /// The condition that no run can be recorded any more whose position is before that of a row of `tributary_run`;
    /// nil if runs are recorded in the order of their ids, and the tables have no columns `transaction`.
    var isSettled: String? { get }

    // MARK: Transactions

    /// The id of the next run.
    var nextRun: String { get }

    /// The last id that a row of `tributary_change` was given, by whichever transaction; 0 before the first.
    var lastChange: String { get }

    /// The id of the transaction, for ``RecordedRun/transaction``.
    var transaction: String { get }

    /// Returns the end of a SELECT that locks the rows of a table until the transaction ends; empty if no other
    /// transaction can write meanwhile.
    ///
    /// - Parameter skips: true if rows that another transaction has locked are left out.
    func lock(_ alias: String, skips: Bool) -> String

    /// True if a WITH clause may write, so that several writes are one statement.
    var combinesWrites: Bool { get }

    /// The most rows that one INSERT takes.
    var rowsInStatement: Int { get }
}

extension LedgerDialect {
    func lock(_ alias: String) -> String { lock(alias, skips: false) }

    var run: String { tables.table(OwnTables.runs.table.name) }
    var source: String { tables.table(OwnTables.sources.table.name) }
    var request: String { tables.table(OwnTables.requests.table.name) }
    var listing: String { tables.table(OwnTables.listings.table.name) }
    var change: String { tables.table(OwnTables.changes.table.name) }
    var host: String { tables.table(OwnTables.hosts.table.name) }
    var acceptance: String { tables.table(OwnTables.acceptances.table.name) }
    var hook: String { tables.table(OwnTables.hooks.table.name) }
    var hookSource: String { tables.table(OwnTables.hookSources.table.name) }
    var login: String { tables.table(OwnTables.logins.table.name) }
    var claim: String { tables.table(OwnTables.claims.table.name) }
    var rejected: String { tables.table(OwnTables.rejected.table.name) }
    var daemon: String { tables.table(OwnTables.daemons.table.name) }

    /// Returns an expression that `SQLRow.date` reads.
    func date(_ column: String) -> String { tables.date(column) }

    /// Returns the time some seconds from now, or before.
    func now(plus seconds: Int) -> SQLText { time(SQLText(now), plus: "(\(seconds))") }
}
