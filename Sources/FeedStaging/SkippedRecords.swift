package import FeedModel

/// The records of one table that a run has left out because a value did not convert. They are in the feed, so a mirror
/// keeps their rows.
package struct SkippedRecords: Sendable {
    /// The table, as the store spells it.
    package let table: String
    package let scope: [String: String]
    /// The columns that identify a row.
    package let key: [String]
    /// The keys of the records, each with a value for each column.
    package private(set) var keys: [[StoredValue]] = []
    /// The number of records whose rows are not known: their keys did not convert, or are too many to remember, or the
    /// records around them were left out. Where there is one, any row may be that record's, and the mirror deletes none.
    package private(set) var unknown = 0

    /// The most keys that are remembered, and the most bytes of them.
    private static let (mostKeys, mostBytes) = (10_000, 1 << 20)
    private var bytes = 0

    package init(table: String, scope: [String: String], key: [String]) {
        self.table = table
        self.scope = scope
        self.key = key
    }

    /// The number of items of a `for_each` that were left out with all of their records.
    private var items = 0

    /// Creates the records of skipped items, whose rows are unknown.
    package init(table: String, scope: [String: String], items: Int) {
        self.init(table: table, scope: scope, key: [])
        self.items = items
        unknown = items
    }

    /// - Parameter values: the record's key; nil if it is not known.
    package mutating func add(_ values: [StoredValue]?) {
        guard let values, !key.isEmpty else {
            unknown += 1
            return
        }
        // A key with NULL is no row's.
        guard !values.contains(.null) else { return }
        bytes += values.reduce(0) { $0 + $1.size }
        guard keys.count < Self.mostKeys, bytes <= Self.mostBytes else {
            unknown += 1
            return
        }
        keys.append(values)
    }

    /// Returns true if the records may be among the rows that a request mirrors.
    package func concerns(_ rows: MirroredRows) -> Bool {
        table.lowercased() == rows.table.lowercased() && (scope.isEmpty || rows.scope.isEmpty || scope == rows.scope)
    }

    /// The reason why rows that the feed no longer has are kept; nil if they are deleted.
    package var note: String? {
        guard unknown > 0 else { return nil }
        if items > 0 {
            let items = items == 1 ? "1 item" : "\(items) items"
            return "no row of table '\(table)' was deleted, as \(items) of for_each may have had it"
        }
        let records = unknown == 1 ? "1 record was" : "\(unknown) records were"
        return "no row of table '\(table)' was deleted, as \(records) left out (on_error = \"skip\") "
            + "whose rows are not known"
    }
}

extension StagedStack {
    /// Returns true if rows that a request mirrors are kept, although the feed lacks them.
    package func keepsAll(_ rows: MirroredRows) -> Bool {
        skipped.contains { $0.unknown > 0 && $0.concerns(rows) }
    }

    /// Returns true if the mirrors of a table keep rows that their feeds lack.
    package func keepsAll(of table: String) -> Bool {
        skipped.contains { $0.unknown > 0 && $0.table.lowercased() == table.lowercased() }
    }

    /// Returns the records with known keys that may be among the rows that a request mirrors.
    package func skipped(among rows: MirroredRows) -> [SkippedRecords] {
        skipped.filter { !$0.keys.isEmpty && $0.concerns(rows) }
    }
}

extension StoredValue {
    fileprivate var size: Int {
        switch self {
        case .null, .integer, .real: 8
        case .text(let text): text.utf8.count
        case .blob(let data): data.count
        }
    }
}

/// The records that a run leaves out because its declarations say so, by the reason.
package struct SkippedRows: Sendable, Equatable {
    /// The number of errors that are kept.
    package static let mostErrors = 3

    /// Records that a table's `where` excludes.
    package var filtered = 0
    /// Elements that a parser class does not accept.
    package var unaccepted = 0
    /// Records with a value that does not convert, or that is missing, and lines that are not CSV.
    package private(set) var invalid = 0
    /// Records that were staged, and those of them that are within records of other tables.
    private var kept = 0
    private var keptWithin = 0
    /// True if a record that may have others within it was left out because of an error, and so were these.
    package var lacksOutermost = false
    /// The errors of the first of these, at most ``mostErrors``.
    package private(set) var errors: [String] = []

    package init() {}

    package var count: Int { filtered + unaccepted + invalid }

    /// True if no record is left, as at least one was left out because of an error.
    package var leavesNone: Bool { invalid > 0 && kept - (lacksOutermost ? keptWithin : 0) == 0 }

    /// - Parameter isWithin: true for a record within one of another table.
    package mutating func addKept(isWithin: Bool) {
        kept += 1
        if isWithin { keptWithin += 1 }
    }

    /// - Parameter error: what is wrong with the record; nil if it is not known.
    package mutating func addInvalid(_ error: String?) {
        invalid += 1
        if let error, errors.count < Self.mostErrors { errors.append(error) }
    }

    package mutating func add(_ other: SkippedRows) {
        filtered += other.filtered
        unaccepted += other.unaccepted
        invalid += other.invalid
        kept += other.kept
        keptWithin += other.keptWithin
        lacksOutermost = lacksOutermost || other.lacksOutermost
        errors = Array((errors + other.errors).prefix(Self.mostErrors))
    }

    /// The number of invalid records with the first errors; nil without one.
    package var note: String? {
        guard invalid > 0 else { return nil }
        let count = invalid == 1 ? "1 record was skipped" : "\(invalid) records were skipped"
        let rest = invalid > errors.count && !errors.isEmpty ? ["and \(invalid - errors.count) more"] : []
        return errors.isEmpty ? count : count + ": " + (errors + rest).joined(separator: "; ")
    }
}
