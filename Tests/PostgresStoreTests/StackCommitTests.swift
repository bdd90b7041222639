import FeedModel
import Foundation
import Ledger
import PostgresClient
import PostgresServer
import Synchronization
import Testing

@testable import FeedStaging
@testable import FeedStores
@testable import PostgresStore

/// The commit around the merge.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct StackCommitTests {
    @Test func aCommitIsRepeatedOnANewConnection() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let calls = Mutex(0)
            let report = try await store.commit(
                .of("s", outcome: .committed), merging: .empty, interruption: Interruption()
            ) {
                // Within the transaction.
                let call = calls.withLock { calls in
                    calls += 1
                    return calls
                }
                if call < 3 { #expect(throws: Never.self) { try database.terminateOthers() } }
                return Double(call)
            }
            #expect(report.seconds == 3)
            #expect(try store.runs(limit: 9).map(\.seconds) == [3])
            try store.close()
        }
    }

    @Test func aCommitIsGivenUpWhereTheServerStaysAway() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, interruption: Interruption()) {
                    try? server.stop(.immediate)
                    return 0
                }
            }
            #expect(error?.contains("cannot be written") == true, "\(error ?? "")")
            try server.start()
            #expect(try store.runs(limit: 9).isEmpty)
            try store.close()
        }
    }

    @Test func anInterruptionEndsAWaitForALock() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE tributary_source IN ACCESS EXCLUSIVE MODE")
            let interruption = Interruption()
            async let commit = message {
                _ = try await store.commit(.of("s"), merging: .empty, interruption: interruption) { 0 }
            }
            try await database.waitForWaiting()
            interruption.request()
            #expect(await commit == "\(CancellationError())")
            try holder.execute("ROLLBACK")
            let again = await message {
                _ = try await store.commit(.of("s"), merging: .empty, interruption: interruption) { 0 }
            }
            #expect(again == "\(CancellationError())")
            #expect(try store.runs(limit: 9).isEmpty)
            _ = try await store.commit(.of("s"), merging: .empty, interruption: Interruption()) { 0 }
            #expect(try store.runs(limit: 9).count == 1)
            try store.close()
        }
    }

    @Test func anInterruptionBetweenTwoStatementsCommitsNothing() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let interruption = Interruption()
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, interruption: interruption) {
                    interruption.request()
                    return 0
                }
            }
            #expect(error == "\(CancellationError())")
            #expect(try store.runs(limit: 9).isEmpty)
            try store.close()
        }
    }

    /// The server does not answer at all.
    @Test func anInterruptionGivesUpASilentServer() async throws {
        try await withPostgresServer { (server) async throws in
            let store = try PostgresStore(url: server.connectionString(), workFolder: "/tmp")
            let interruption = Interruption()
            let error = await message {
                _ = try await store.commit(.of("s"), merging: .empty, interruption: interruption) {
                    try? server.pause()
                    interruption.request()
                    return 0
                }
            }
            #expect(error == "\(CancellationError())")
            try server.resume()
            #expect(try store.runs(limit: 9).isEmpty)
            try store.close()
        }
    }

    @Test func waitsForLocksEndWhenTheProgramIsToStop() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let holder = try database.connect()
            try holder.executeScript("BEGIN; LOCK TABLE tributary_source IN ACCESS EXCLUSIVE MODE")
            async let attempt = message { try await store.noteHold("s", error: "", note: "") }
            try await database.waitForWaiting()
            store.stopWaiting()
            // The server gives up by itself, or is asked to, or has nothing left to ask where the machine was busy for
            // seconds: one of the three ends each wait.
            for error in [await attempt, await message { try await store.noteHold("s", error: "", note: "") }] {
                let isExpected = ["cannot be written", "stayed locked"].contains { error?.contains($0) ?? false }
                #expect(isExpected, "\(error ?? "no error")")
            }
            try holder.execute("ROLLBACK")
            try store.close()
        }
    }

    @Test func listenersHearOfCommitsThatChangedRows() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore()
            let listener = try database.connect()
            try listener.listen(to: "tributary")
            var report = RunReport(source: "a \"b\"", outcome: .committed, startedAt: Date())
            let connection = try database.connect()
            let notification = CommitNotification(connection: connection, leases: store.leases)
            let run = RecordedRun(id: 7, transaction: "", source: report.source, startedAt: report.startedAt)
            try notification.notify(report, run: run)
            report.counts.deleted = 1
            try notification.notify(report, run: run)
            let messages = try listener.notifications(timeout: .seconds(10)).map(\.payload)
            let id = store.daemonID
            let message = #"{"run" : 7, "source" : "a \"b\"", "outcome" : "committed", "daemon" : "\#(id)"}"#
            #expect(messages == [message])
            try store.close()
        }
    }
}
