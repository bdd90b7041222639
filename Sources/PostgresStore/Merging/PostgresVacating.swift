import FeedStaging
import FeedStores
import Merging
import PostgresClient
import StoreSQL

/// Values that rows have for a moment, while others take their own.
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
            // Another value might do: one that the foreign keys, the checks and the type accept.
            return false
        }
    }

    // The rows are found by their keys.
    func noteVacated(_ rows: Vacating, _ list: RowList, _ values: [(column: String, value: SQLText)]) {}
}
