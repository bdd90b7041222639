import PostgresStore
import PostgresServer

extension TestDatabase {
    /// Returns once a session waits for an event: `PgSleep`, `ClientRead`.
    func waitUntil(_ session: Int32, waitsFor event: String) throws {
        let observer = try connect()
        while true {
            let row = try observer.execute(
                "SELECT wait_event FROM pg_stat_activity WHERE pid = $1", [.integer(Int64(session))]
            ).first
            if row?.string(0) == event { return }
        }
    }

    func terminate(_ session: Int32) throws {
        try connect().execute("SELECT pg_terminate_backend($1, 10000)", [.integer(Int64(session))])
    }
}

extension PostgresConnection {
    /// The values of the first column.
    func strings(_ sql: String, _ parameters: [PostgresValue?] = []) throws -> [String?] {
        try execute(sql, parameters).map { $0.string(0) }
    }

    func notify(_ channel: String, _ payload: String) throws {
        try execute("SELECT pg_notify($1, $2)", [.text(channel), .text(payload)])
    }
}
