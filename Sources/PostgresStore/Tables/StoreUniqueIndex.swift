/// A unique index that holds at every moment for every row: valid, neither partial nor deferrable, without expressions.
struct StoreUniqueIndex: Sendable, Equatable {
    struct Column: Sendable, Equatable {
        var name: String
        /// The index's collation as SQL names it; nil for types without one. It may be another than the column's.
        var collation: String?
        /// False where the collation holds texts of different bytes for equal.
        var isDeterministic: Bool
    }

    var name: String
    var isPrimary: Bool
    /// NULLS NOT DISTINCT: two rows with NULL in the columns are refused, too.
    var nullsAreEqual: Bool
    var columns: [Column]
}
