import FeedConfiguration
import FeedStores
import TributaryStores

/// The store of a command.
extension TributaryConfiguration {
    /// Reads from the store. One that does not exist yet is not created.
    ///
    /// - Returns: nil without a store.
    func reading<Value>(_ body: (Ledger) throws -> Value) throws -> Value? {
        // A database on a server may have no tables of Tributary's yet.
        try hasStore() ? withExistingStore { try $0?.read(body) } : nil
    }

    /// Opens the store, which the caller closes.
    ///
    /// - Parameter workFolder: the folder of scratch files; nil for the store's own.
    /// - Throws: ``Failure`` where there is none yet; `StoreError`.
    func openedStore(isWritten: Bool = false, workFolder: String? = nil) throws -> any MainStore {
        guard let store = try openExistingStore(isWritten: isWritten, workFolder: workFolder) else {
            throw Failure.failed(noStore)
        }
        return store
    }
}
