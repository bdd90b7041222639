import FeedModel

extension LedgerDialect {
    /// The columns of a position in `tributary_run`.
    var runPosition: String { positionColumns.joined(separator: ", ") }

    /// The columns of ``runPosition`` for an ORDER BY, newest run first.
    var runPositionDescending: String { positionColumns.map { $0 + " DESC" }.joined(separator: ", ") }

    private var positionColumns: [String] { isSettled == nil ? ["id"] : ["transaction", "id"] }

    /// Returns the condition that a run comes after a position.
    func isAfter(_ position: RunPosition) -> SQLText { "(\(runPosition)) > (\(values(of: position)))" }

    private func values(of position: RunPosition) -> SQLText {
        let run: SQLText = "\(bind: position.run)"
        return isSettled == nil ? run : "CAST(\(bind: String(position.transaction)) AS xid8), \(run)"
    }

    /// Returns the assignments of an UPDATE of `tributary_hook`.
    func assignments(of position: RunPosition) -> SQLText {
        isSettled == nil
            ? "run = \(bind: position.run)"
            : "transaction = CAST(\(bind: String(position.transaction)) AS xid8), run = \(bind: position.run)"
    }
}
