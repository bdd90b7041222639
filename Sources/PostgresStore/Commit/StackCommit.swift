import FeedModel
import FeedStaging
import FeedStores
import Foundation
import PostgresClient

/// The commit of a run's staged rows: one transaction, which is repeated where that may help.
struct StackCommit {
    let store: PostgresStore
    let interruption: CommitInterruption
    /// The same in two round trips, which is tried first; nil where the stack is not one for it.
    var small: SmallCommit?
    /// The seconds to wait before each further attempt: for a lock that another transaction holds, or for a server that
    /// restarts.
    var pauses = [0.05, 0.25, 1, 2, 4]
    /// Writes rows, and records the run that has sent them.
    let write: (StackTransaction) throws -> (run: RecordedRun, report: RunReport)

    /// - Throws: ``StoreError``, or `CancellationError`; the store is then unchanged.
    func run() throws -> RunReport {
        var pauses = pauses[...]
        var small = small
        while true {
            do {
                return try attempt(small)
            } catch is Unsuitable {
                small = nil
            } catch let error as PostgresError {
                // Its own cancellation may have reached the COMMIT, which then did not take place.
                if interruption.isRequested { throw CancellationError() }
                // A server that is away cannot be connected to at first, which need not be the end.
                let mayHelp = error.isRepeatable || error.kind == .connecting && error.isTransient
                guard mayHelp, let pause = pauses.popFirst() else {
                    throw StoreError(commit: error, store: store.description)
                }
                if error.isConnectionLost { store.connections.forgetIdle() }
                // Two that were in each other's way are not to meet again.
                try interruption.pause(pause * .random(in: 0.5...1))
            }
        }
    }

    private func attempt(_ small: SmallCommit?) throws -> RunReport {
        var recorded: (run: RecordedRun, report: RunReport)?
        let turn = TableTurn(store.tableTurns, interruption)
        defer { turn.end() }
        do {
            if let small { try turn.take(small.written.map(\.sql), isShared: true) }
            return try store.connections.withConnection { connection in
                // A cancellation may still be on its way to the server.
                defer { if interruption.isRequested { connection.close() } }
                // COMMIT, too, may wait: for a standby, or for a server that has been stopped.
                return try store.lockWaits.whileWaiting(connection) {
                    if let small {
                        let written = try interruption.whileInterruptible(connection) { try small.write(connection) }
                        recorded = (written.run, written.report)
                        try small.end(written, connection)
                        return written.report
                    }
                    return try connection.inTransaction {
                        let written = try interruption.whileInterruptible(connection) {
                            try write(StackTransaction(store: store, connection: connection, turn: turn))
                        }
                        recorded = written
                        return written.report
                    }
                }
            }
        } catch var error as PostgresError where error.isCommitUnknown {
            if let recorded, try store.isRecorded(recorded.run) { return recorded.report }
            error.isCommitUnknown = false
            throw error
        }
    }
}
