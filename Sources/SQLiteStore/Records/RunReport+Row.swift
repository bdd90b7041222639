import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

extension RunReport {
    init(_ row: Row) {
        var counts = MergeCounts()
        counts.inserted = row["inserted"]
        counts.updated = row["updated"]
        counts.deleted = row["deleted"]
        counts.unchanged = row["unchanged"]
        counts.replaced = row["replaced"]
        self.init(
            number: row["id"], source: row["source"], outcome: RunOutcome(rawValue: row["outcome"]) ?? .discarded,
            startedAt: StoreDate.date(row["started_at"]) ?? .distantPast, seconds: row["seconds"], counts: counts,
            skipped: row["skipped"], bytes: row["bytes"], error: row["error"],
            requests: JSONText.decode(row["requests"]) ?? [])
        restoredRun = row["restored"]
        kind = (row["kind"] as String?).flatMap(RunKind.init)
        isHeld = row["held"]
        failingSince = StoreDate.date(row["failing_since"])
    }

    /// - Parameter changes: the ids of its part of the journal; nil where it has changed nothing.
    func write(_ db: Database, changes: ClosedRange<Int64>?) throws {
        try db.execute(
            cached: """
                INSERT INTO main.tributary_run
                (source, started_at, finished_at, outcome, inserted, updated, deleted, unchanged, replaced, skipped, bytes,
                 seconds, error, requests, kind, held, failing_since, first_change, last_change, restored)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            [
                source, StoreDate.text(startedAt), StoreDate.text(startedAt + seconds), outcome.rawValue,
                counts.inserted, counts.updated, counts.deleted, counts.unchanged, counts.replaced, skipped, bytes,
                seconds, error, try JSONText.encode(requests), kind?.rawValue, isHeld, failingSince.map(StoreDate.text),
                changes?.lowerBound, changes?.upperBound, restoredRun,
            ])
    }
}

/// Lists and dictionaries in the text columns of Tributary's own tables.
enum JSONText {
    static func encode(_ value: some Encodable & Collection) throws -> String {
        String(decoding: try encoder.encode(value), as: UTF8.self)
    }

    static let encoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }()

    /// Decodes a list of tables. Most names have no escapes.
    static func names(_ text: String) -> Set<String> {
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return decode(text) ?? [] }
        // Every other piece is the text between two quotes.
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        return Set(stride(from: 1, to: pieces.count, by: 2).map { String(Substring(pieces[$0])) })
    }

    /// Decodes a scope. Most scopes are empty or have no escapes.
    static func texts(_ text: String) -> [String: String] {
        if text == "{}" { return [:] }
        guard !text.utf8.contains(UInt8(ascii: "\\")) else { return decode(text) ?? [:] }
        // In the format of ``encode(_:)``, every other piece is the text between two quotes: a name, then its value.
        let pieces = text.utf8.split(separator: UInt8(ascii: "\""), omittingEmptySubsequences: false)
        guard pieces.count % 4 == 1 else { return decode(text) ?? [:] }
        return stride(from: 1, to: pieces.count, by: 4).reduce(into: [:]) {
            $0[String(Substring(pieces[$1]))] = String(Substring(pieces[$1 + 2]))
        }
    }

    static func decode<Value: Decodable>(_ text: String) -> Value? {
        try? JSONDecoder().decode(Value.self, from: Data(text.utf8))
    }
}
