/// What the main store knows of one request of a source: the version its rows stand for.
package struct RequestState: Sendable, Equatable {
    package var key: String
    package var validators: Validators
    /// Of the request's declaration and its parser's version; validators count only while it stays the same.
    package var fingerprint: String
    /// Tables that the request wrote when it was last committed.
    package var tables: Set<String>
    package var sync: SyncMode
    package var scope: [String: String]
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
