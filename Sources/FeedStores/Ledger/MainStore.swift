package import FeedModel
package import Foundation

/// The database that all other programs read. Rows are written to it in whole stacks alone, in one transaction each.
///
/// Synchronous methods block their thread, so none is called from the cooperative pool.
package protocol MainStore: StoreTables, StoreRows, StoreCommits, StoreMoves, StorePurges, StoreHistory, StoreBrowsing,
    StoreUpkeep
{
    /// Reads Tributary's own tables, in one transaction or with single statements. A body may be executed twice.
    ///
    /// - Throws: the errors of the body; ``FeedModel/StoreError`` where the database cannot be read.
    func read<Value>(_ body: (Ledger) throws -> Value) throws -> Value

    /// Writes Tributary's own tables in a transaction of its own. A body may be executed twice.
    ///
    /// - Throws: the errors of the body; ``FeedModel/StoreError`` where the database cannot be written.
    func write<Value>(_ body: (Ledger) throws -> Value) throws -> Value

    /// Writes Tributary's own tables together with others that wait, without blocking the caller's thread. A body may be
    /// executed twice.
    ///
    /// - Throws: as ``write(_:)``.
    func writeInGroup(_ body: @escaping @Sendable (Ledger) throws -> Void) async throws

    /// Returns the states of a source and of its requests, the latter by key. Validators are included only while the
    /// rows exist for which they stand.
    func states(of source: String) throws -> (source: SourceState, requests: [String: RequestState])

    /// Deletes runs that began before a date, a bounded number, with their part of the changelog and of the histories, in a
    /// transaction of its own.
    ///
    /// - Parameter histories: the tables whose histories outlive the runs, in lower case, with the time before which their
    ///   entries are old.
    /// - Returns: true if there may be more of them.
    func forgetRuns(before date: Date, keeping histories: [String: Date]) throws -> Bool

    /// Takes or keeps the right to deliver a hook's events. One process has it at a time; it ends with the process,
    /// or soon after it.
    ///
    /// - Returns: false while another process has it.
    func holdHook(_ name: String) throws -> Bool

    func releaseHook(_ name: String) throws
}
