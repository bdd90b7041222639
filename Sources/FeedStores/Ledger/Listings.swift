import FeedModel

/// The documents of listings: `tributary_listing`.
package struct Listings: LedgerPart {
    let ledger: Ledger

    /// Returns the documents of a request's last listing; nil if they are not those of this version of the listing.
    package func documents(of source: String, request key: String, version: String) throws -> ListedDocuments? {
        try session.first(
            """
            SELECT \(columns(OwnTables.listings.reader)) FROM \(dialect.listing)
            WHERE source = \(bind: source) AND key = \(bind: key) AND version = \(bind: version)
            """
        ) { try read(OwnTables.listings.reader, $0).documents }
    }

    /// Returns the statements that write the listings of a commit.
    package func writing(_ commit: Commit) throws -> [SQLText] {
        let rows = commit.listings.compactMap(\.value)
        let ended = commit.forgottenKeys + commit.listings.filter { $0.value == nil }.map(\.key).sorted()
        return try rows.sorted { $0.key < $1.key }.map { try OwnTables.listings.upsert(of: [$0], dialect.tables) }
            + (ended.isEmpty ? [] : [deletion(ended, of: commit.report.source)])
    }

    private func deletion(_ keys: [String], of source: String) -> SQLText {
        "DELETE FROM \(dialect.listing) WHERE source = \(bind: source) AND \(dialect.isAmong("key", keys))"
    }
}

extension Ledger {
    package var listings: Listings { Listings(ledger: self) }
}
