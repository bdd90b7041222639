import FeedModel
import Foundation
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging
@testable import FeedStores

/// How many small feeds a second a store commits, without what comes before the commit. Runs where `TRIBUTARY_RATE` has the
/// connection string of a server that writes to disk (Scripts/postgres); only a release build says something.
@Suite(.serialized, .enabled(if: ProcessInfo.processInfo.environment["TRIBUTARY_RATE"] != nil)) struct CommitRateTests {
    private static let url = ProcessInfo.processInfo.environment["TRIBUTARY_RATE"] ?? ""
    private static let feeds = 500
    private static let rounds = 6

    @Test(arguments: [true, false]) func feedsASecond(isSmall: Bool) async throws {
        let server = try PostgresConnection(Self.url)
        try server.executeScript(
            """
            SET client_min_messages = warning; DROP SCHEMA public CASCADE; CREATE SCHEMA public;
            CREATE TABLE item (feed text, id text, n text, title text, PRIMARY KEY (feed, id))
            """)
        let store = try PostgresStore(url: Self.url, workFolder: "/tmp")
        for round in 0...Self.rounds {
            let stacks = try (0..<Self.feeds).map { try Self.stack($0, round, store) }
            let start = ContinuousClock.now
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<Self.feeds {
                    let (stack, commit) = (stacks[number], Self.commit(number, round))
                    group.addTask { _ = try await Self.merge(stack, commit, store, isSmall: isSmall) }
                }
                try await group.waitForAll()
            }
            let seconds = start.duration(to: .now) / .seconds(1)
            // The first round fills the table.
            print(
                "\(isSmall ? "small" : "general") round \(round): \(Int(Double(Self.feeds) / seconds)) feeds a second")
        }
        try store.close()
    }

    private static func merge(_ stack: StagedStack, _ commit: Commit, _ store: PostgresStore, isSmall: Bool)
        async throws
    {
        if isSmall {
            _ = try await store.commit(commit, merging: stack, stop: Stop()) { 0 }
        } else {
            _ = try await store.commitThreads.run {
                let tables = store.knownTables(stack, commit.mirrors, commit.retention)
                return try StackCommit(store: store, stop: Stop(), tables: tables) {
                    try $0.record(commit, merging: stack, seconds: { 0 })
                }.run()
            }
        }
    }

    private static func stack(_ number: Int, _ round: Int, _ store: PostgresStore) throws -> StagedStack {
        let context = WorkerContext(store: store, source: "s\(number)")
        defer { context.remove() }
        context.beginRequest(0, rule: MergeRule(sync: .mirror, scope: ["feed": "s\(number)"]))
        for id in 0..<20 {
            try context.insert(
                into: "item",
                [
                    "feed": "s\(number)", "id": "\(id)", "n": id == 7 ? "\(round)" : "0",
                    "title": "item \(id) of \(number)",
                ])
        }
        return try context.finish()
    }

    private static func commit(_ number: Int, _ round: Int) -> Commit {
        var commit = Commit.of(
            "s\(number)", [request(etag: "\(round)", scope: ["feed": "s\(number)"])], outcome: .committed,
            mirrors: [MirroredRows(table: "item", scope: ["feed": "s\(number)"])])
        commit.changesClaims = round == 0
        return commit
    }
}
