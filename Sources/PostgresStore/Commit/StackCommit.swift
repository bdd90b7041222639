import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// The commit of a run's staged rows: one transaction, which is repeated where that may help.
struct StackCommit {
    let store: PostgresStore
    /// Stops this commit alone.
    let stop: Stop
    /// The commit in two round trips, which is tried first; nil if the stack does not suit it.
    var small: SmallCommit?
    /// The tables to write, as far as they are known before the transaction; nil if only the transaction finds out.
    /// It then takes no turn.
    var tables: Set<String>?
    /// The seconds to wait before each further attempt: for a lock that another transaction holds, or for a server that
    /// restarts.
    var pauses = [0.05, 0.25, 1, 2, 4]
    /// Writes rows, and records the run that has sent them.
    let write: (StackTransaction) throws -> (run: RecordedRun, report: RunReport)

    /// - Parameters:
    ///   - turn: a turn that has been granted, for the first attempt.
    ///   - blocks: false if the thread must not wait for a turn.
    /// - Throws: ``StoreError``, or `CancellationError`; the store is then unchanged. ``PendingTurn``, if the thread must
    ///   not wait.
    func run(_ turn: TableTurn? = nil, blocks: Bool = true) throws -> RunReport {
        var commit = self
        var turn = turn
        while true {
            do {
                return try commit.attempt(turn.take(), blocks: blocks)
            } catch is Unsuitable {
                commit.small = nil
            } catch let others as OtherTables {
                commit.tables?.formUnion(others.tables)
            } catch let error as PostgresError {
                // Its own cancellation may have reached the COMMIT, which then did not take place.
                if stop.isRequested { throw CancellationError() }
                // A server that is away cannot be connected to at first, which need not be the end.
                let mayHelp = error.isRepeatable || error.kind == .connecting && error.isTransient
                guard mayHelp, !commit.pauses.isEmpty else {
                    throw store.failure(error)
                }
                if error.isConnectionLost { store.connections.forgetIdle() }
                // Two that were in each other's way are not to meet again.
                let pause = commit.pauses.removeFirst() * .random(in: 0.5...1)
                try stop.wait(for: DispatchSemaphore(value: 0), seconds: pause)
            }
        }
    }

    /// - Parameter granted: a turn that has been granted, which ends with the attempt.
    private func attempt(_ granted: TableTurn?, blocks: Bool) throws -> RunReport {
        let turn = takeTurn(orKeep: granted)
        guard blocks || turn.isGranted else {
            throw PendingTurn(turn: turn, isSmall: small != nil, tables: tables, pauses: pauses)
        }
        defer { turn.end() }
        try turn.wait(stop)
        let done = try transaction(turn)
        store.notifier.notify(done.report, run: done.run, in: store)
        return done.report
    }

    /// Queues behind earlier commits of this process, unless the given turn suffices.
    private func takeTurn(orKeep turn: TableTurn?) -> TableTurn {
        let needed = small.map { [$0.part.details.sql] } ?? tables ?? []
        if let turn, turn.serves(needed, isShared: small != nil) { return turn }
        turn?.end()
        return TableTurn(store.tableTurns, needed, isShared: small != nil)
    }

    private func transaction(_ turn: TableTurn) throws -> (run: RecordedRun, report: RunReport) {
        var recorded: (run: RecordedRun, report: RunReport)?
        do {
            return try store.connections.withConnection(.work, stop) { connection in
                // A cancellation may still be on its way to the server.
                defer { if stop.isRequested { connection.close() } }
                if let small {
                    let written = try whileStoppable(connection) { try small.write(connection) }
                    recorded = (written.run, written.report)
                    try small.end(written, connection)
                    return (written.run, written.report)
                }
                return try connection.inTransaction(settings: store.settings(PostgresStore.silenceBeforeLocks)) {
                    let written = try whileStoppable(connection) {
                        let turn = tables == nil ? nil : turn
                        return try write(StackTransaction(store: store, connection: connection, turn: turn))
                    }
                    recorded = written
                    return written
                }
            }
        } catch var error as PostgresError where error.isCommitUnknown {
            if let recorded, try store.isRecorded(recorded.run) { return recorded }
            error.isCommitUnknown = false
            throw error
        }
    }

    /// Runs the part of the commit that may be stopped: the statements before COMMIT.
    ///
    /// - Throws: `CancellationError` also if the body is done, as a late cancellation might reach the COMMIT.
    private func whileStoppable<Value>(_ connection: PostgresConnection, _ body: () throws -> Value) throws -> Value {
        let value = try stop.whileStoppable(Stop.Work(connection), body)
        try stop.check()
        return value
    }
}

/// Thrown by a commit that must wait for its turn, with the way to continue.
struct PendingTurn: Error {
    var turn: TableTurn
    var isSmall: Bool
    var tables: Set<String>?
    var pauses: [Double]
}

/// Says that a transaction would write tables for which its turn is not. Nothing has been written.
struct OtherTables: Error {
    var tables: Set<String>
}
