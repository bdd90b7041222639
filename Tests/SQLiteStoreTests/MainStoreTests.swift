import FeedModel
import Foundation
@testable import FeedStores
import GRDB
import TestSupport
import Testing
@testable import FeedStaging
@testable import SQLiteStore

@Suite struct MainStoreTests {
    let schema = "CREATE TABLE IF NOT EXISTS item (id TEXT PRIMARY KEY, name TEXT, size INTEGER)"

    @Test func observationsFireAtCommitsThatChangeSomethingAndOnlyThen() async throws {
        try await StoreFixture.with(schema) { fixture in
            let (values, continuation) = AsyncStream<Int>.makeStream()
            let observation = DatabaseRegionObservation(tracking: Table("item"))
            let writer = try #require(fixture.store.reader as? any DatabaseWriter)
            let cancellable = observation.start(
                in: writer, onError: { _ in },
                onChange: { db in
                    continuation.yield((try? Int.fetchOne(db, sql: "SELECT count(*) FROM item")) ?? -1)
                })
            try fixture.commit { try $0.insert(Item(id: "a")) }
            try fixture.commit { try $0.insert(Item(id: "a")) }
            let unchanged = Commit(
                report: RunReport(source: "s", outcome: .unchanged, startedAt: Date()), requests: [],
                state: SourceState(source: "s"))
            try await fixture.store.record(unchanged)
            try fixture.commit { try $0.insert(Item(id: "b")) }
            cancellable.cancel()
            continuation.finish()
            var seen: [Int] = []
            for await value in values { seen.append(value) }
            #expect(seen == [1, 2])
        }
    }

    @Test func aSourceIsLockedOnceInThisProcessToo() async throws {
        try await StoreFixture.with(schema) { fixture in
            let lock = try #require(try RunLock(store: fixture.store, source: "one"))
            #expect(try RunLock(store: fixture.store, source: "one") == nil)
            let other = try #require(try RunLock(store: fixture.store, source: "two"))
            lock.unlock()
            let again = try #require(try RunLock(store: fixture.store, source: "one"))
            again.unlock()
            other.unlock()
        }
    }

    /// A reader is never kept waiting by a commit, and never sees half of one.
    @Test func readersSeeAllOrNothing() async throws {
        try await StoreFixture.with(schema) { fixture in
            let isDone = Mutex(false)
            let store = fixture.store
            async let sums: Set<String> = {
                var seen: Set<String> = []
                while !isDone.withLock({ $0 }) {
                    seen.insert(
                        try await store.reader.read {
                            try String.fetchOne($0, sql: "SELECT count(*) || '/' || count(DISTINCT name) FROM item")
                                ?? ""
                        })
                }
                return seen
            }()
            for version in 0..<10 {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for id in 0..<500 { try context.insert(Item(id: "\(id)", name: "v\(version)", size: nil)) }
                }
            }
            isDone.withLock { $0 = true }
            #expect(try await sums.isSubset(of: ["0/0", "500/1"]))
        }
    }

    @Test func aCommitIsSynced() async throws {
        try await withTemporaryFolder { folder in
            let store = try SQLiteStore(path: folder.file("store.sqlite"))
            defer { try? store.close() }
            let level = try await store.pool.writeWithoutTransaction { try Int.fetchOne($0, sql: "PRAGMA synchronous") }
            #expect(level == 2)
        }
    }

    /// A power failure leaves the journal of the transaction that was making the file.
    @Test func aStoreOpensWhoseCreationWasCutOff() async throws {
        try await withTemporaryFolder { folder in
            let (path, copy) = (folder.file("other.sqlite"), folder.file("store.sqlite"))
            let queue = try DatabaseQueue(path: path)
            try await queue.writeWithoutTransaction { db in
                // Its pages go to the file before the transaction ends.
                try db.execute(sql: "CREATE TABLE item (body); PRAGMA cache_size = 1; BEGIN")
                for _ in 0..<100 { try db.execute(sql: "INSERT INTO item VALUES (randomblob(4000))") }
                for suffix in ["", "-journal"] {
                    try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
                }
                try db.execute(sql: "ROLLBACK")
            }
            try queue.close()
            let store = try SQLiteStore(path: copy)
            defer { try? store.close() }
            let rows = try await store.pool.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") }
            #expect(rows == 0)
        }
    }
}
