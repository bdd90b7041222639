import FeedModel
@testable import FeedStores
@testable import PostgresStore
import TestStores
import Testing
@testable import FeedStaging

extension MergeFixture {
    /// Merges what would be merged, reports its changes, and rolls everything back.
    func plan(_ requests: [Request], onChange: @escaping (PlannedChange) throws -> Void) throws {
        try connection.execute("BEGIN")
        let result = Result { try merge(requests, usesScratch: false, onChange: onChange) }
        try connection.execute("ROLLBACK")
        _ = try result.get()
    }

    /// Merges a stack from memory, and notes the rows that leave the scopes of requests.
    ///
    /// - Returns: the rows that never were in them.
    func commit(_ requests: [Request], claims: ClaimWatch) throws -> Set<MirroredRows> {
        try store.renewTableInfos(of: nil)
        let context = WorkerContext(store: store, source: "source")
        defer { context.remove() }
        for (index, request) in requests.enumerated() {
            context.beginRequest(index, rule: request.rule)
            try request.stage(context)
        }
        let stack = try context.finish()
        return try connection.inTransaction {
            let driver = PostgresMergeDriver(connection, store, stack, run: 1)
            let merge = driver.merge(claims: claims)
            try driver.prepare([])
            try driver.lock([], Retention())
            _ = try merge.execute()
            return try ScopeTracker(merge: merge.context).outOfScopeRows()
        }
    }
}
