import FeedStores
import Foundation

/// Asks the store on threads of its own, a few at a time: the store's methods block.
struct StoreQueue: Sendable {
    private static let width = 4

    let store: any MainStore
    private let queue: OperationQueue

    init(_ store: any MainStore) {
        self.store = store
        queue = OperationQueue()
        queue.name = "tributary.web"
        queue.maxConcurrentOperationCount = Self.width
    }

    /// Does blocking work. Others wait behind it.
    func run<Value: Sendable>(_ body: @escaping @Sendable (any MainStore) throws -> Value) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            queue.addOperation { continuation.resume(with: Result { try body(store) }) }
        }
    }
}
