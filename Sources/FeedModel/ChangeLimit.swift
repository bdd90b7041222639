/// The most rows that one commit may delete, or update, among those of a scope.
public enum ChangeLimit: Sendable, Hashable {
    case rows(Int)
    /// A part of the rows, from 0 to 1, where there are more than some.
    case share(Double, above: Int = 0)

    /// The default: half of the rows, where there are more than a hundred. A declared limit of `50%` differs from it.
    public static let half = ChangeLimit.share(0.5, above: 100)

    /// Reads a number of rows, or a percentage such as `50%`.
    package init?(_ text: String) {
        if text.hasSuffix("%") {
            guard let percent = Double(text.dropLast()), (0...100).contains(percent) else { return nil }
            self = .share(percent / 100)
        } else {
            guard let rows = Int(text), rows >= 0 else { return nil }
            self = .rows(rows)
        }
    }

    /// Returns true if a number of rows is more than the limit allows.
    ///
    /// - Parameter all: the rows of the scope before the commit.
    package func isExceeded(by rows: Int, of all: Int) -> Bool {
        switch self {
        case .rows(let most): rows > most
        case .share(let share, let least): all > least && Double(rows) > share * Double(all)
        }
    }
}

extension ChangeLimit: CustomStringConvertible {
    /// As it is declared: `500`, `50%`.
    public var description: String {
        switch self {
        case .rows(let rows): "\(rows)"
        case .share(let share, _): "\((share * 1e6).rounded() / 1e4)".replacing(/\.0$/, with: "") + "%"
        }
    }
}

/// The limits on the changes of one commit to a table's scope; nil for no limit.
public struct ChangeLimits: Sendable, Hashable {
    public var deleted: ChangeLimit?
    public var changed: ChangeLimit?
    /// True if a feed without any record may delete every row, where the limit of deletions is the default.
    public var allowsEmpty: Bool

    public init(deleted: ChangeLimit? = .half, changed: ChangeLimit? = nil, allowsEmpty: Bool = false) {
        self.deleted = deleted
        self.changed = changed
        self.allowsEmpty = allowsEmpty
    }
}
