import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import GRDB
import Logging
import TestEngine
import TestSupport
import Testing
@testable import TributaryEngine

/// A store whose files are taken away while it is in use.
@Suite struct StoreWatchTests {
    enum Loss: CaseIterable {
        case deleted, replaced, logDeleted, indexDeleted

        func happen(to path: String) throws {
            let manager = FileManager.default
            switch self {
            case .deleted: try manager.removeItem(atPath: path)
            case .replaced:
                try manager.copyItem(atPath: path, toPath: path + ".copy")
                try manager.removeItem(atPath: path)
                try manager.moveItem(atPath: path + ".copy", toPath: path)
            case .logDeleted: try manager.removeItem(atPath: path + "-wal")
            case .indexDeleted: try manager.removeItem(atPath: path + "-shm")
            }
        }
    }

    @Test(arguments: Loss.allCases)
    func itIsNoticedWithinSeconds(loss: Loss) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let service = try fixture.service(EngineFixture.request("/a"), clock: fixture.clock)
            let watching = Task { try await service.watchStore() }
            try loss.happen(to: fixture.storePath)
            let clock = Task {
                while !Task.isCancelled {
                    fixture.clock.advance(by: 10)
                    await Task.yield()
                }
            }
            let result = await watching.result
            clock.cancel()
            #expect(throws: StoreError.self) { try result.get() }
            if case .failure(let error as StoreError) = result {
                #expect(error.code == .replaced && error.message.contains(fixture.storePath))
            }
            try service.store.close()
        }
    }

    /// What `cp` takes is the store.
    @Test(.timeLimit(.minutes(10))) func anIdleStoresFileHoldsAllThatWasCommitted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1", "2"]))
            let service = try fixture.service(EngineFixture.request("/a"), clock: fixture.clock)
            let running = Task { try await service.run() }
            let watching = Task { try await service.watchStore() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.outcome == .committed)
            let copy = fixture.folder.file("copy.sqlite")
            func copied() throws -> Int {
                try? FileManager.default.removeItem(atPath: copy)
                try FileManager.default.copyItem(atPath: fixture.storePath, toPath: copy)
                let count = try? DatabaseQueue(path: copy).read {
                    try Int.fetchOne($0, sql: "SELECT count(*) FROM item")
                }
                return count ?? 0
            }
            while try copied() < 2 {
                fixture.clock.advance(by: 1)
                try await Task.sleep(for: .milliseconds(5))
            }
            watching.cancel()
            running.cancel()
            _ = await watching.result
            try? await running.value
            try service.store.close()
        }
    }

    /// What would go into a file that nobody reads any more is refused.
    @Test(arguments: [Loss.deleted, .replaced])
    func aCommitIsRefused(loss: Loss) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let service = try fixture.service(EngineFixture.request("/a"), clock: SystemClock())
            let path = fixture.storePath
            try loss.happen(to: path)
            let report = try #require(try await service.sync(mode: .force).first)
            try service.store.close()
            let file = try #require(report.error)
            #expect(report.outcome == .discarded && file.contains(path), "\(report)")
            #expect(file.contains(loss == .deleted ? "is gone" : "has been replaced"), "\(report)")
        }
    }

    @Test func aStoreBehindASymbolicLinkIsInItsPlace() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            try FileManager.default.createDirectory(
                atPath: fixture.folder.file("there"), withIntermediateDirectories: false)
            try FileManager.default.createSymbolicLink(
                atPath: fixture.storePath, withDestinationPath: fixture.folder.file("there/store.sqlite"))
            let service = try fixture.service(EngineFixture.request("/a"), clock: SystemClock())
            try service.store.checkPlace()
            #expect(try await service.sync(mode: .force).first?.outcome == .committed)
            try service.store.checkPlace()
            try service.store.close()
        }
    }
}
