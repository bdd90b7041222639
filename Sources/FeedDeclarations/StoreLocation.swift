/// The place of the main store.
public enum StoreLocation: Sendable, Equatable {
    /// The absolute path of an SQLite file.
    case file(String)
    /// A connection string of libpq. It may hold a password, and is never shown.
    case server(String)
}
