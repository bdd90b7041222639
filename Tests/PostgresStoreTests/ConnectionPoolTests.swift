import FeedModel
import Foundation
@testable import PostgresStore
import PostgresServer
import Testing

/// A bounded number of connections.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct ConnectionPoolTests {
    /// Who waits gets a connection in the order of coming.
    @Test func waitersAreServedInTheirOrder() async throws {
        try await withPostgresDatabase { (database) async throws in
            let pool = ConnectionPool(database.connectionString, limit: 1, stop: Stop())
            let order = Order()
            var waiters: [Task<Void, any Error>] = []
            let isHeld = DispatchSemaphore(value: 0)
            let holder = Task {
                try await onThread {
                    try pool.withConnection(.work) { _ in
                        order.add(-1)
                        isHeld.wait()
                    }
                }
            }
            while order.numbers.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            for number in 0..<5 {
                waiters.append(
                    Task {
                        try await onThread {
                            try pool.withConnection(.work) { connection in
                                order.add(number)
                                try connection.execute("SELECT 1")
                            }
                        }
                    })
                while pool.waiting <= number { try await Task.sleep(for: .milliseconds(2)) }
            }
            isHeld.signal()
            try await holder.value
            for waiter in waiters { try await waiter.value }
            #expect(order.numbers == [-1, 0, 1, 2, 3, 4])
            pool.close()
        }
    }

    @Test func anInterruptionEndsTheWait() async throws {
        try await withPostgresDatabase { (database) async throws in
            let pool = ConnectionPool(database.connectionString, limit: 1, stop: Stop())
            let stop = Stop()
            try await withThrowingTaskGroup(of: Void.self) { group in
                let isHeld = DispatchSemaphore(value: 0)
                let order = Order()
                group.addTask {
                    try await onThread {
                        try pool.withConnection(.work) { _ in
                            order.add(-1)
                            isHeld.wait()
                        }
                    }
                }
                while order.numbers.isEmpty { try await Task.sleep(for: .milliseconds(2)) }
                let waits = Task { try await onThread { try pool.withConnection(.work, stop) { _ in } } }
                while pool.waiting < 1 { try await Task.sleep(for: .milliseconds(2)) }
                stop.request()
                await #expect(throws: CancellationError.self) { try await waits.value }
                #expect(pool.waiting == 0)
                isHeld.signal()
                try await group.waitForAll()
            }
            try pool.withConnection(.work) { _ = try $0.execute("SELECT 1") }
            pool.close()
        }
    }

    /// A connection that cannot be opened, or was lost, leaves its place to the next.
    @Test func placesAreGivenBack() async throws {
        try await withPostgresDatabase { (database) async throws in
            let away = ConnectionPool("host=/nonexistent dbname=x", limit: 1, stop: Stop())
            for _ in 0..<3 {
                #expect(throws: PostgresError.self) { try away.withConnection(.work) { _ in } }
            }
            let pool = ConnectionPool(database.connectionString, limit: 1, stop: Stop())
            for _ in 0..<3 { try pool.withConnection(.work) { $0.close() } }
            pool.close()
        }
    }
}

private final class Order: @unchecked Sendable {
    private let lock = NSLock()
    private var all: [Int] = []
    var numbers: [Int] { lock.withLock { all } }
    func add(_ number: Int) { lock.withLock { all.append(number) } }
}
