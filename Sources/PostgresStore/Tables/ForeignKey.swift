/// A foreign key of the store: the tables and columns on both sides, and the effect of a parent's change on its
/// children.
struct ForeignKey: Sendable, Decodable {
    /// What becomes of the children, by the letters of `pg_constraint`.
    enum Action: String, Decodable {
        /// Both refuse; most keys do so with each statement.
        case noAction = "a"
        case restrict = "r"
        case cascade = "c"
        case setNull = "n"
        case setDefault = "d"

        var changesChildren: Bool { self != .noAction && self != .restrict }
    }

    /// The child's table.
    var child: UInt32
    var columns: [String]
    /// The parent's table.
    var parent: UInt32
    var parentName: String
    var targets: [String]
    var onDelete: Action
    var onUpdate: Action
    var isDeferrable: Bool

    /// True if a parent can only be deleted after or together with its child.
    var holdsParents: Bool { onDelete != .noAction || !isDeferrable }
}
