/// The kind of a column's values, if another store may show the same value differently.
package enum TransferKind: Sendable, Equatable {
    /// Values of any type, as SQLite keeps them.
    case dynamic
    case boolean
    case integer
    case real
    /// A floating-point number of 32 bits.
    case single
    /// A decimal number of any length.
    case numeric
    /// A point in time, with or without a zone.
    case timestamp(isZoned: Bool)
    case bytes
    case uuid
    case json
    /// Text whose trailing spaces do not count.
    case padded
    /// Texts, and all other types by the server's text of them.
    case text

    /// Returns the kind by which the values of two columns are compared; the second receives those of the first.
    package static func common(_ from: TransferKind, _ to: TransferKind) -> TransferKind {
        to == .dynamic ? from : to
    }
}
