/// What the main store knows of one request of a source: the version its rows stand for.
package struct RequestState: Sendable, Equatable {
    package var key: String
    package var validators: Validators
    /// Of the request's declaration and its parser's version; validators count only while it stays the same.
    package var fingerprint: String
    /// Tables that the request wrote when it was last committed.
    package var tables: Set<String>
    package var sync: SyncMode
    /// Which of its tables' rows it has written: those with these values, by column; any where it names none. What it
    /// declares, unless not all that it wrote is there.
    package var scope: [String: String]
    /// What its rows stand in: which columns its tables had when it was last committed, and whether they had rows.
    package var schema: String?
    /// SHA-256 of the body, where the server sent no validators.
    package var digest: String?
    /// Where the server said it has moved for good, and how often in a row.
    package var movedTo: String?
    package var movedTimes = 0

    package init(
        key: String, validators: Validators, fingerprint: String, tables: Set<String> = [], sync: SyncMode,
        scope: [String: String] = [:]
    ) {
        self.key = key
        self.validators = validators
        self.fingerprint = fingerprint
        self.tables = tables
        self.sync = sync
        self.scope = scope
    }
}
