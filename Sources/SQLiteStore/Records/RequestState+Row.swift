import FeedModel
import FeedStaging
import Foundation
import GRDB

extension RequestState {
    /// Returns the columns in the order in which they are read, by position.
    static func columns(of alias: String) -> String {
        [
            "key", "etag", "last_modified", "fingerprint", "tables", "sync", "scope", "digest", "moved_to",
            "moved_times", "schema", "bodies",
        ].map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    init(_ row: Row, from first: Int) {
        self.init(
            key: row[first], validators: Validators(etag: row[first + 1], lastModified: row[first + 2]),
            fingerprint: row[first + 3], tables: JSONText.names(row[first + 4]),
            sync: SyncMode(rawValue: row[first + 5]) ?? .upsert, scope: JSONText.texts(row[first + 6]))
        digest = row[first + 7]
        movedTo = row[first + 8]
        movedTimes = row[first + 9]
        schema = row[first + 10]
        bodies = (row[first + 11] as String?)?.split(separator: " ").map(String.init) ?? []
    }

    func write(_ db: Database, source: String) throws {
        try db.execute(
            cached: """
                INSERT OR REPLACE INTO main.tributary_request
                (source, key, etag, last_modified, fingerprint, tables, sync, scope, digest, moved_to, moved_times, schema,
                 bodies)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            [
                source, key, validators.etag, validators.lastModified, fingerprint,
                try JSONText.encode(tables.sorted()), sync.rawValue, try scopeText(),
                digest, movedTo, movedTimes, schema,
                bodies.isEmpty ? nil : bodies.joined(separator: " "),
            ])
    }

    func scopeText() throws -> String { try JSONText.encode(scope) }
}
