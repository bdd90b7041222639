/// The main store's record of one request of a source: the version that its rows represent.
package struct RequestState: Sendable, Equatable {
    package var key: String
    package var validators: Validators
    /// A fingerprint of the request's declaration and its parser's version. Validators count only while it stays the
    /// same.
    package var fingerprint: String
    /// The tables that the request wrote in its last commit.
    package var tables: Set<String>
    package var sync: SyncMode
    /// The rows of its tables that it has written: rows with these values, by column; any rows if empty. It is the
    /// declared scope, or empty if some of its rows are outside of that scope.
    package var scope: [String: String]
    /// The state of its tables at its last commit: which columns they had, and whether they had rows.
    package var schema: String?
    /// SHA-256 of the documents of the last commit, if they are compared.
    package var digest: String?
    /// The address to which the server said it has moved for good, and how often in a row it said so.
    package var movedTo: String?
    package var movedTimes = 0
    /// The names of the bodies that are kept of it, the last one first: the one that its rows stand for.
    package var bodies: [String] = []
    /// The ``RequestShape/text`` of the documents of the declaration so far; nil before the first that a mapping has read.
    /// It is read where a document came, and not at each poll.
    package var shape: String?

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

    /// Returns true if two states lay claim to the same rows.
    package func hasClaims(of other: RequestState) -> Bool { tables == other.tables && scope == other.scope }
}

/// The identity of a request: its source and its key.
package struct RequestID: Hashable, Comparable, Sendable {
    package var source: String
    /// The request's key within its source.
    package var key: String

    package init(source: String, key: String) {
        self.source = source
        self.key = key
    }

    package static func < (left: RequestID, right: RequestID) -> Bool {
        (left.source, left.key) < (right.source, right.key)
    }
}

/// A request that looks up rows of a table (`references`), and the changes of the table after which its document gives
/// other rows, although it is the same.
package struct RowLookup: Sendable, Equatable {
    package var request: RequestID
    /// True if rows come and go: a column is NULL where no row is found.
    package var isOptional: Bool
    /// True if the column that is compared changes in a row: it is not the table's key.
    package var isByValue: Bool

    package init(request: RequestID, isOptional: Bool, isByValue: Bool) {
        (self.request, self.isOptional, self.isByValue) = (request, isOptional, isByValue)
    }

    package func isConcerned(by changes: MergeCounts) -> Bool {
        isOptional && changes.inserted + changes.deleted > 0 || isByValue && changes.updated > 0
    }
}

/// The server's identifiers for the version of a response, byte for byte (RFC 9110, section 8.8).
public struct Validators: Sendable, Hashable, Codable {
    public var etag: String?
    public var lastModified: String?

    public init(etag: String? = nil, lastModified: String? = nil) {
        self.etag = etag
        self.lastModified = lastModified
    }

    public var isEmpty: Bool { etag == nil && lastModified == nil }
}
