import FeedModel
import Foundation
import GRDB
@testable import FeedConfiguration
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore
@testable import TributaryEngine

/// Documents through a mapping and into a store, twice: the second commit of the same bytes must change nothing.
final class CommitTarget: FuzzTarget {
    private let store: FuzzStore
    private let tables: [String]

    init() throws {
        store = try FuzzStore(FuzzSources.columns.toml)
        tables = try store.store.tables().map(\.name)
    }

    func run(_ input: [UInt8]) throws -> Bool {
        let request = store.requests[0]
        try store.store.pool.write { db in
            try db.execute(sql: "PRAGMA defer_foreign_keys = ON")
            for table in tables { try db.execute(sql: "DELETE FROM \(table.sqlIdentifier)") }
        }
        guard let first = try commit(input, request, usesScratch: false) else { return false }
        for usesScratch in [false, true] {
            guard let second = try commit(input, request, usesScratch: usesScratch) else {
                throw FuzzFinding("\(request.url): what was committed once is refused the second time")
            }
            guard second.inserted + second.updated + second.deleted == 0 else {
                throw FuzzFinding(
                    "\(request.url): the same bytes again, by way of \(usesScratch ? "scratch" : "memory"), give "
                        + "\(second) after \(first)")
            }
        }
        return true
    }

    /// Nil where the document, or the commit, is refused.
    private func commit(_ input: [UInt8], _ request: RequestDeclaration, usesScratch: Bool) throws -> MergeCounts? {
        let context = store.store.makeWorkerContext(source: "fuzz")
        defer { context.remove() }
        var counts: MergeCounts?
        _ = try refusal {
            try store.stage(input, of: request, in: context, pieceSize: nil)
            if usesScratch { try context.flush() }
            let stack = try context.finish()
            let written = context.tables(ofRequest: 0).sorted()
            let commit = Commit(
                report: RunReport(source: "fuzz", outcome: .committed, startedAt: Date(timeIntervalSince1970: 0)),
                requests: [], state: SourceState(source: "fuzz", outcome: .committed),
                mirrors: written.filter(request.mirrors).map { MirroredRows(table: $0, scope: request.scope) })
            counts = try store.store.pool.writeWithoutTransaction { db in
                try store.store.commit(commit, merging: stack, seconds: { 0 }, on: db).counts
            }
        }
        return counts
    }
}
