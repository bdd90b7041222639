import FeedModel

extension PostgresError {
    /// True if a value exists already that must be unique.
    var breaksUniqueness: Bool { state == .uniqueViolation || state == .exclusionViolation }

    var breaksForeignKey: Bool { state == .foreignKeyViolation }

    /// True if the server rejected rows because of their values, a constraint, or a trigger.
    var isAboutRows: Bool {
        guard kind == .statement, let state else { return kind == .value }
        return ["22", "23", "44"].contains(state.classCode) || state.rawValue == "P0001" || isTooLongForIndex
    }

    /// True if the server rejected a row because an indexed value of it is too long.
    var isTooLongForIndex: Bool { state?.rawValue == "54000" }
}

extension StoreError {
    /// Creates the error for the server's refusal of rows.
    ///
    /// - Parameters:
    ///   - table: nil if the server alone knows it.
    ///   - isCircle: true for a foreign key around a circle of tables, which no order of statements satisfies.
    ///   - hint: what to do about it.
    init(refused error: PostgresError, in table: String?, isCircle: Bool = false, hint: String = "") {
        var message = error.message
        if error.state == .notNullViolation, let column = error.column { message = Self.unfilled(column) }
        if let detail = error.detail { message += "; " + detail }
        if error.isTooLongForIndex {
            message +=
                "; a row's key, or another value with an index, is longer than the 2,700 bytes that an index takes"
        }
        if isCircle, let constraint = error.constraint {
            message +=
                "; if the feed has that row, the rows refer to each other: declare the foreign key '\(constraint)' "
                + "DEFERRABLE, so that it is checked at the end of the commit"
        }
        message += hint
        self.init(.constraint, (table ?? error.table).map { "table '\($0)': \(message)" } ?? message)
    }
}
