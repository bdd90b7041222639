/// A message on a channel ("NOTIFY").
package struct PostgresNotification: Sendable, Equatable {
    package var channel: String
    package var payload: String
    /// The process id of the session that sent it.
    package var sender: Int32
}
