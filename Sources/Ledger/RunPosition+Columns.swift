import FeedModel
import StoreSQL

extension LedgerDialect {
    /// The columns of a position in `tributary_run`, in the order in which they are read.
    var runPosition: String { positionColumns(run: "id").joined(separator: ", ") }

    /// The columns of ``runPosition`` for an ORDER BY, newest run first.
    var runPositionDescending: String { positionColumns(run: "id").map { $0 + " DESC" }.joined(separator: ", ") }

    /// The columns of a position in `tributary_hook`.
    var hookPosition: String { positionColumns(run: "run").joined(separator: ", ") }

    /// The number of columns of a position.
    var positionWidth: Int { isSettled == nil ? 1 : 2 }

    private func positionColumns(run: String) -> [String] { isSettled == nil ? [run] : ["transaction", run] }

    /// Returns the condition that a run comes after a position.
    func isAfter(_ position: RunPosition) -> SQLText { "(\(runPosition)) > (\(values(of: position)))" }

    /// Returns a value for each column of a position.
    func values(of position: RunPosition) -> SQLText {
        let run: SQLText = "\(bind: position.run)"
        return isSettled == nil ? run : "CAST(\(bind: String(position.transaction)) AS xid8), \(run)"
    }

    /// Returns the assignments of an UPDATE of `tributary_hook`.
    func assignments(of position: RunPosition) -> SQLText {
        isSettled == nil
            ? "run = \(bind: position.run)"
            : "transaction = CAST(\(bind: String(position.transaction)) AS xid8), run = \(bind: position.run)"
    }

    /// Reads a position from the first columns of a row.
    func readPosition(_ row: any SQLRow) throws -> RunPosition {
        let run = positionWidth - 1
        return RunPosition(
            transaction: run == 0 ? 0 : row.string(0).flatMap { UInt64($0) } ?? 0, run: try row.int64(run) ?? 0)
    }
}
