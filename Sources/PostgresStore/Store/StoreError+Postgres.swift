import FeedModel

extension StoreError {
    /// - Parameter store: the store's address; nil if the connection string cannot be read.
    static func cannotOpen(_ store: String?, _ why: String, help: String? = nil) -> StoreError {
        StoreError(.unavailable, "the store \(store.map { $0 + " " } ?? "")cannot be opened: \(why)", help: help)
    }

    /// - Parameter store: the store's address.
    init(reading error: PostgresError, store: String) {
        self.init(.database, "the store \(store) cannot be read: \(error.finding.text)", help: error.finding.help)
    }

    /// Creates the error for a transaction that failed, and changed nothing.
    ///
    /// - Parameter store: the store's address.
    init(commit error: PostgresError, store: String) {
        switch error.state {
        case .diskFull?:
            self.init(.database, "the store \(store) cannot grow: \(error.finding.text)", help: error.finding.help)
        case .lockNotAvailable?:
            self.init(
                .database,
                "the store \(store) stayed locked by another session, for two minutes or until this process was to "
                    + "stop; pg_locks and pg_stat_activity show which: \(error.message)")
        case let state? where state.classCode == "23":
            self.init(.constraint, error.finding.text, help: error.finding.help)
        default:
            self.init(
                error.kind == .value ? .constraint : .database,
                "the store \(store) cannot be written: \(error.finding.text)", help: error.finding.help)
        }
    }
}
