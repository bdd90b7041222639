import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// A store as one on a server is: now and then it does not answer, and nobody knows whether a transaction was committed.
class LossyStore: MainStore, @unchecked Sendable {
    let store: any MainStore
    let lines: StoreLines

    init(_ store: any MainStore, _ lines: StoreLines) {
        self.store = store
        self.lines = lines
    }

    func reading<Value>(_ method: String, _ body: (any MainStore) throws -> Value) throws -> Value {
        try lines.checkThere(method)
        return try body(store)
    }

    func writing<Value>(_ method: String, _ body: (any MainStore) throws -> Value) throws -> Value {
        try lines.writing(method) { try body(store) }
    }

    func writing<Value>(_ method: String, _ body: (any MainStore) async throws -> Value) async throws -> Value {
        try lines.checkThere(method)
        await wait(method)
        let value = try await body(store)
        try lines.checkAnswer(method)
        return value
    }

    /// Waits until the store does what it was asked to do.
    func wait(_ method: String) async {}

    /// Takes note of a run that was recorded.
    func note(_ report: RunReport) {}

    func claim(_ source: String, at origin: String?) throws -> (any SourceClaim)? {
        try reading("claim") { try $0.claim(source, at: origin) }
    }
    func claimed(among sources: [String]) throws -> Set<String> { try store.claimed(among: sources) }
    func holdHook(_ name: String) throws -> Bool { try reading("holdHook") { try $0.holdHook(name) } }
    func releaseHook(_ name: String) throws { try store.releaseHook(name) }

    var name: String { store.name }
    var workFolder: String { store.workFolder }
    func stopWaiting() { store.stopWaiting() }
    func checkPlace() throws { try store.checkPlace() }
    func probe() throws { try store.probe() }
    func size() throws -> Int64 { try store.size() }
    func tidy() throws { try store.tidy() }
    func close() throws { try store.close() }
}
