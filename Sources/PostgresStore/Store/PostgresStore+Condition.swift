import FeedModel
import PostgresClient

/// The checks of a store's health.
extension PostgresStore {
    /// Asks the server whether it lets this session write. A disk that is full stops the server itself.
    package func probe() throws {
        let why: String? = try ask { connection in
            let row = try connection.execute(
                "SELECT pg_is_in_recovery(), current_setting('transaction_read_only')::boolean")[0]
            if try row.bool(0) != false { return "its server is a standby, which is read-only" }
            if try row.bool(1) != false {
                return
                    "the session is read-only; see default_transaction_read_only of the role, the database and the server"
            }
            return nil
        }
        guard let why else { return }
        // A session keeps the settings with which it began.
        connections.forgetIdle()
        throw StoreError(.database, "the store \(description) cannot be written: \(why)")
    }

    /// The bytes of the database.
    package func size() throws -> Int64 {
        try ask { try $0.execute("SELECT pg_database_size(current_database())")[0].int64(0) ?? 0 }
    }

}
