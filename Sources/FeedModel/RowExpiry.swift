/// How old rows may become: `expire = { column = "stop", after = "7d" }`.
public struct RowExpiry: Sendable, Hashable {
    /// The column with a row's date.
    public var column: String
    /// The time after that date for which the row stays.
    public var after: Duration

    public init(column: String, after: Duration) {
        self.column = column
        self.after = after
    }
}
