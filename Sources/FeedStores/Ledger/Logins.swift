package import Foundation

/// The logins whose refresh tokens change: `tributary_login`.
package struct Logins: LedgerPart {
    let ledger: Ledger

    /// Takes the right to exchange a login's refresh token, until ``release(_:by:)`` or for some seconds.
    ///
    /// - Returns: false while another exchange has it.
    package func hold(_ login: String, by holder: String, seconds: Int) throws -> Bool {
        let row = try OwnTables.logins.insertion(of: [LoginRow(login: login)], dialect.tables)
        try session.execute("\(row) ON CONFLICT (login) DO NOTHING")
        return try session.execute(
            """
            UPDATE \(dialect.login) SET holder = \(bind: holder), held_until = \(dialect.now(plus: seconds))
            WHERE login = \(bind: login)
            AND (holder IS NULL OR holder = \(bind: holder) OR coalesce(held_until < \(dialect.now), true))
            """) > 0
    }

    /// Ends the right of an exchange, unless it has lost it.
    package func release(_ login: String, by holder: String) throws {
        try session.execute(
            """
            UPDATE \(dialect.login) SET holder = NULL, held_until = NULL
            WHERE login = \(bind: login) AND holder = \(bind: holder)
            """)
    }

    /// Returns the encrypted refresh token of a login; nil without one.
    package func token(of login: String) throws -> String? {
        try session.first("SELECT token FROM \(dialect.login) WHERE login = \(bind: login)") { $0.string(0) }
    }

    /// Replaces the encrypted refresh token of a login, unless an exchange that came later has.
    ///
    /// - Parameter former: the token that was exchanged; nil for the declared one.
    package func replace(_ former: String?, by token: String, of login: String, at date: Date) throws {
        try session.execute(
            """
            UPDATE \(dialect.login) SET token = \(bind: token), renewed_at = \(dialect.time(date))
            WHERE login = \(bind: login) AND coalesce(token, '') = \(bind: former ?? "")
            """)
    }
}

extension Ledger {
    package var logins: Logins { Logins(ledger: self) }
}
