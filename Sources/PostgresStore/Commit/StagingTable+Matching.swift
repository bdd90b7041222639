import FeedStaging
import FeedStores
import PostgresClient

extension StagingTable {
    /// The schema of the merge's own tables.
    static let temporarySchema = "pg_temp"

    /// What the names of the merge's own tables begin with, so that they hide no table of the store's.
    static let temporaryPrefix = "tributary_"

    /// The temporary table of the staged rows, as SQL names it.
    var staged: String { "\(schema).\(name.sqlIdentifier)" }

    /// The temporary table of records that were replaced by later ones, each with the row that replaced it.
    var stagedTwins: String { "\(schema).\("\(name)_twins".sqlIdentifier)" }

    /// Returns a condition that a row under one alias is the row under the other. Always false without a key. The
    /// staged columns have the types and collations of the store's.
    func matches(_ left: String, _ right: String) -> String {
        guard case .key(let key, _) = identity else { return "false" }
        return key.map(\.sqlIdentifier).map { "\(left).\($0) = \(right).\($0)" }.joined(separator: " AND ")
    }
}
