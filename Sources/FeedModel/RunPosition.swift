/// The place of a run in the order in which runs are told. Whoever has read all runs up to a place has missed none of
/// them, as a run that is recorded later comes after it.
///
/// In a file, one run is recorded after another, and their ids are that order. On a server ids are given before the
/// commit, so that a later one may become visible earlier. There the order is that of the recording transactions, of
/// which only those are read before which none is under way any more.
package struct RunPosition: Sendable, Hashable, Comparable {
    /// The place before all runs.
    package static let start = RunPosition(run: 0)

    /// The transaction that recorded the run (`xid8`); 0 in a file.
    package var transaction: UInt64
    package var run: Int64

    package init(transaction: UInt64 = 0, run: Int64) {
        self.transaction = transaction
        self.run = run
    }

    package static func < (left: RunPosition, right: RunPosition) -> Bool {
        (left.transaction, left.run) < (right.transaction, right.run)
    }
}
