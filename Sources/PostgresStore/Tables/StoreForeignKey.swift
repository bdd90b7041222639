/// A foreign key of a table.
struct StoreForeignKey: Sendable, Equatable {
    enum Action: String, Sendable {
        /// Refused at the end of the statement, or of the transaction where the key is deferred.
        case noAction = "a"
        case restrict = "r"
        case cascade = "c"
        case setNull = "n"
        case setDefault = "d"

        var changesChildren: Bool { self != .noAction && self != .restrict }
    }

    /// The constraint's name.
    var name: String
    var columns: [String]
    /// The parent's object id and name.
    var parentID: UInt32
    var parent: String
    /// The parent's columns, one for each of `columns`.
    var targets: [String]
    var onDelete: Action
    var onUpdate: Action
    /// The columns that ON DELETE SET NULL or SET DEFAULT sets: all, or those that it names.
    var columnsToSet: [String]
    var isDeferrable: Bool
    /// False for NOT VALID: rows from before the constraint may lack their parents.
    var isValidated: Bool
    /// True for MATCH FULL: either all columns are NULL, or none is.
    var matchesFull: Bool
}
