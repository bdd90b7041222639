import GRDB

/// The first value of a query on a store that another process may be using.
func sqlite(_ path: String, _ sql: String) async throws -> String? {
    let queue = try DatabaseQueue(path: path)
    return try await queue.read { try String.fetchOne($0, sql: sql) }
}
