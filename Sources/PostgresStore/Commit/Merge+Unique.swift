import Foundation
import PostgresClient
@testable import FeedStore

/// Unique values that pass from row to row: swapped, shifted, or held by a row that is about to be deleted.
extension Merge {
    func makingRoom<Value>(
        in table: StagingTable, for remaining: ArraySlice<Difference> = [], _ write: () throws -> Value
    ) throws -> Value {
        try write()
    }
}
