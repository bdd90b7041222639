package import Foundation

/// A changed row as Debezium's connectors write it: `before`, `after`, `op`, `source` and `ts_ms`.
package struct DebeziumChange: Encodable {
    private struct Source: Encodable {
        var version = TributaryVersion.version
        var connector = "tributary"
        var name: String
        var ts_ms: Int64
        var table: String
        var key: StoredValue
        var run: Int64
        /// The row of the changelog.
        var id: Int64
    }

    private var before: [String: StoredValue]?
    private var after: [String: StoredValue]?
    private var op: String
    private var source: Source
    private var ts_ms: Int64

    private enum CodingKeys: String, CodingKey { case before, after, op, source, ts_ms }

    /// - Parameter time: when the run ended.
    package init(_ change: ChangelogEntry, source: String, run: Int64, time: Date) {
        before = change.images?.before?.object
        after = change.images?.after?.object
        op =
            switch change.operation {
            case "insert": "c"
            case "delete": "d"
            default: "u"
            }
        ts_ms = Int64((time.timeIntervalSince1970 * 1000).rounded())
        self.source = Source(
            name: source, ts_ms: ts_ms, table: change.table, key: change.key, run: run, id: change.id)
    }

    /// Writes NULL where there is no row: the envelope always has both.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(before, forKey: .before)
        try container.encode(after, forKey: .after)
        try container.encode(op, forKey: .op)
        try container.encode(source, forKey: .source)
        try container.encode(ts_ms, forKey: .ts_ms)
    }
}
