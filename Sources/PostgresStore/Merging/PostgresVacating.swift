import FeedStaging
import FeedStores
import Merging
import PostgresClient
import StoreSQL

/// Unique values that rows give up for a moment, while others take them.
extension PostgresMergeDriver {
    func mayConflict(_ table: StagingTable, _ stored: any StoredTable) throws -> Bool {
        let own = table.keyColumns.isEmpty ? 0 : 1
        let isFollowed = stored.details.referringKeys.contains { $0.onUpdate.changesChildren }
        // Equal keys have been found by the comparison already.
        return stored.details.uniquenesses.count > own || isFollowed
    }

    func uniqueColumns(of table: any StoredTable) throws -> Set<String> { table.details.uniqueColumns }

    func vacating(_ body: () throws -> Bool) throws -> Bool {
        do {
            return try connection.inSavepoint(body)
        } catch let error as PostgresError where error.isAboutRows {
            return false
        }
    }
}
