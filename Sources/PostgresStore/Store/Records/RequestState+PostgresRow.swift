import FeedModel
import Foundation
import PostgresClient

extension RequestState {
    /// Returns the columns in the order in which they are read, by position.
    static func postgresColumns(of alias: String) -> String {
        [
            "key", "etag", "last_modified", "fingerprint", "tables", "sync", "scope", "digest", "moved_to",
            "moved_times", "schema", "bodies",
        ].map { "\(alias).\($0)" }.joined(separator: ", ")
    }

    static let postgresColumnCount = 12

    init(_ row: PostgresRow, from first: Int) throws {
        self.init(
            key: row.string(first) ?? "",
            validators: Validators(etag: row.string(first + 1), lastModified: row.string(first + 2)),
            fingerprint: row.string(first + 3) ?? "", tables: try row.tables(first + 4),
            sync: row.string(first + 5).flatMap(SyncMode.init) ?? .upsert, scope: row.scope(first + 6))
        digest = row.string(first + 7)
        movedTo = row.string(first + 8)
        movedTimes = try row.int(first + 9) ?? 0
        schema = row.string(first + 10)
        bodies = row.string(first + 11)?.split(separator: " ").map(String.init) ?? []
    }
}

extension PostgresRow {
    /// Reads a column of table names.
    func tables(_ column: Int) throws -> Set<String> { Set((try stringArray(column) ?? []).compactMap { $0 }) }

    /// Reads a scope. Most are empty.
    func scope(_ column: Int) -> [String: String] {
        guard let text = string(column), text != "{}" else { return [:] }
        return (try? JSONDecoder().decode([String: String].self, from: Data(text.utf8))) ?? [:]
    }
}
