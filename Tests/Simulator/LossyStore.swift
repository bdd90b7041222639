import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// A store as one on a server is: now and then it does not answer, and nobody knows whether a transaction was committed.
final class LossyStore: MainStore, @unchecked Sendable {
    let store: any MainStore
    private let faults: Faults
    private let loop: EventLoop

    init(_ store: any MainStore, _ internet: Internet) {
        self.store = store
        faults = internet.faults
        loop = internet.loop
    }

    private func checkThere(_ method: String) throws {
        guard faults.fires(.storeAway, method, rarer: 5) else { return }
        loop.note("the store does not answer \(method)")
        throw StoreError(.unavailable, "the store does not answer")
    }

    private func checkAnswer(_ method: String) throws {
        guard faults.fires(.commitLost, method, rarer: 2) else { return }
        loop.note("the answer to \(method) is lost")
        throw StoreError(.database, "the connection was lost during COMMIT, and nobody knows whether it was done")
    }

    func reading<Value>(_ method: String, _ body: (any MainStore) throws -> Value) throws -> Value {
        try checkThere(method)
        return try body(store)
    }

    func writing<Value>(_ method: String, _ body: (any MainStore) throws -> Value) throws -> Value {
        try checkThere(method)
        let value = try body(store)
        try checkAnswer(method)
        return value
    }

    func writing<Value>(_ method: String, _ body: (any MainStore) async throws -> Value) async throws -> Value {
        try checkThere(method)
        let value = try await body(store)
        try checkAnswer(method)
        return value
    }

    var name: String { store.name }
    var workFolder: String { store.workFolder }
    func stopWaiting() { store.stopWaiting() }
    func checkPlace() throws { try store.checkPlace() }
    func probe() throws { try store.probe() }
    func size() throws -> Int64 { try store.size() }
    func tidy() throws { try store.tidy() }
    func close() throws { try store.close() }
}
