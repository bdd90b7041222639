import FeedModel
import FeedStores
import TributaryEngine

/// What `purge` prints.
struct PurgeOutput: Encodable {
    struct Table: Encodable {
        var table: String
        var deleted: Int
        /// Rows that other sources have written, too.
        var shared: Int
        /// Rows of which the changelog does not tell who wrote them.
        var unknown: Int
    }

    var source: String
    var deleted: Int
    var tables: [Table]

    init(source: String, report: PurgeReport) {
        self.source = source
        deleted = report.run.counts.deleted
        tables = report.tables.map {
            Table(table: $0.name, deleted: $0.deleted, shared: $0.shared, unknown: $0.unknown)
        }
    }

    /// Returns a line for each table, for people.
    ///
    /// - Parameter isDone: false where the report is of what would be done.
    static func lines(_ report: PurgeReport, isDone: Bool) -> [String] {
        report.tables.sorted { $0.name < $1.name }.map { table in
            var parts = [
                "table '\(table.name)': \(Figures.count(table.deleted, "row")) \(isDone ? "deleted" : "to delete")"
            ]
            if table.shared > 0 { parts.append("\(table.shared) stay that other sources have written, too") }
            if table.unknown > 0 {
                parts.append(
                    table.lacksKey
                        ? "\(table.unknown) stay, as the table has no key by which the changelog could name them"
                        : "\(table.unknown) stay without an entry of this source in the changelog")
            }
            return parts.joined(separator: "; ")
        }
    }
}
