import FeedModel
import FeedStores
import Foundation
import TributaryEngine

/// Asks the store on threads of its own: the store's methods block. What reads waits for what reads, what writes for what
/// writes.
final class StoreQueue: Sendable {
    /// The most who read at the same time: fewer than a store has connections for, so that runs have theirs.
    private static let readers = 2
    /// The most who may wait, more than there are connections.
    private static let mostWaiting = 400

    let store: any MainStore
    private let reading = WorkLane("tributary.web.read", width: readers, mostWaiting: mostWaiting)
    private let writing = WorkLane("tributary.web.write", width: 1, mostWaiting: mostWaiting)
    /// One question for rows at a time: nobody who looks at a source waits for it.
    private let browsing = WorkLane("tributary.web.rows", width: 1, mostWaiting: mostWaiting)
    /// Those which may read a whole table, and take seconds.
    private let searching = WorkLane("tributary.web.search", width: 1, mostWaiting: mostWaiting)

    init(_ store: any MainStore) { self.store = store }

    /// Reads from the store.
    ///
    /// - Throws: `StoreError`, also where too many wait already; `CancellationError`; the body's own errors.
    func read<Value: Sendable>(_ body: @escaping @Sendable (any MainStore) throws -> Value) async throws -> Value {
        try await run(in: reading, body)
    }

    /// Does what may wait for the store's lock. Nobody who reads waits for that.
    ///
    /// - Throws: as ``read(_:)``.
    func write<Value: Sendable>(_ body: @escaping @Sendable (any MainStore) throws -> Value) async throws -> Value {
        try await run(in: writing, body)
    }

    /// Reads rows that sources have written.
    ///
    /// - Parameter isSearch: true for a question that perhaps no index answers. Nobody who reads by a key waits for it.
    /// - Throws: as ``read(_:)``; `RowQuery.Problem`.
    func browse<Value: Sendable>(
        isSearch: Bool = false, _ body: @escaping @Sendable (any StoreBrowsing) throws -> Value
    ) async throws -> Value {
        try await run(in: isSearch ? searching : browsing) { try body($0) }
    }

    /// Starts no further work. Waiting requests are answered that the daemon stops.
    func close() {
        reading.close()
        writing.close()
        browsing.close()
        searching.close()
    }

    private func run<Value: Sendable>(
        in lane: WorkLane, _ body: @escaping @Sendable (any MainStore) throws -> Value
    ) async throws -> Value {
        do {
            return try await lane.run { [store] in try body(store) }
        } catch is WorkLane.Full {
            throw StoreError(.unavailable, "too many requests wait for the store; try again later")
        } catch is WorkLane.Closed {
            throw StoreError(.unavailable, "the daemon is stopping")
        } catch let error
            where error is StoreError || error is Query.Problem || error is RowQuery.Problem
            || error is Refusal || error is CancellationError
        {
            throw error
        } catch {
            throw StoreError(.database, "the store \(store.name) cannot be used: \(error)")
        }
    }
}
