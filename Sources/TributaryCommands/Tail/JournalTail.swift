import FeedModel
import FeedStores
import Foundation
import Synchronization
import TributaryEngine

/// Writes the journal as lines: the rows of each commit in the order of their ids, then the commit's end. Commits come in
/// the order of ``RunPosition``, in which nothing is ever passed over. Rows are read some thousand at a time, each time by
/// a question of its own, so that neither memory nor the store feels how many there are, or how slowly they are read.
///
/// Blocks its thread.
final class JournalTail: Sendable {
    private static let (runsAtOnce, rowsAtOnce) = (200, 5_000)
    /// The seconds for which commits are waited for that an older transaction holds up.
    private static let patience = 10.0

    private let store: any MainStore
    private let sources: Set<String>
    private let after: Int64?
    private let follows: Bool
    private let isJSON: Bool
    private let isStopped = Atomic(false)
    private let wake = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - sources: empty for all.
    ///   - after: the id of the last row that was read.
    init(_ store: any MainStore, sources: Set<String>, after: Int64?, follows: Bool, isJSON: Bool) {
        self.store = store
        self.sources = sources
        self.after = after
        self.follows = follows
        self.isJSON = isJSON
    }

    /// Makes the tail end soon, or look at once.
    func stop() {
        isStopped.store(true, ordering: .releasing)
        wake.signal()
    }

    /// - Throws: ``StoreError``, ``Failure`` where the journal does not reach so far, or an error of the output.
    func run() throws {
        let output = TailOutput()
        let listening = follows ? (store as? any SharedStore)?.listen { [wake] _ in wake.signal() } : nil
        defer { listening?.stop() }
        try run(output)
        try output.flush()
    }

    private var hasEnded: Bool { isStopped.load(ordering: .acquiring) }

    private func run(_ output: TailOutput) throws {
        var position = RunPosition.start
        var cursor: Int64 = 0
        if let after { (position, cursor) = try begin(after, output) }
        // Where the last row that was read is forgotten: commits whose rows all come before it.
        let read = position == .start ? cursor : 0
        let patienceEnd = ContinuousClock.now + .seconds(Self.patience)
        while !hasEnded {
            let page = try store.page(after: position, limit: Self.runsAtOnce)
            if page.hasForgotten { try write(.runsForgotten(after: cursor), nil, output) }
            for run in page.runs {
                if hasEnded { return }
                if let last = run.changes?.upperBound, last > read {
                    cursor = max(cursor, try write(run, after: 0, output))
                }
                position = run.position
            }
            guard page.runs.isEmpty else { continue }
            try output.flush()
            if follows {
                // On a server, messages come sooner; a file is looked at.
                _ = wake.wait(timeout: .now() + .milliseconds(store is any SharedStore ? 1_000 : 200))
                try output.check()
            } else if try store.isHeldUp(after: position) {
                guard ContinuousClock.now < patienceEnd else { return try write(.heldUp, nil, output) }
                _ = wake.wait(timeout: .now() + .milliseconds(20))
            } else {
                return
            }
        }
    }

    /// Finds the place of the last row that was read, and writes the rest of its commit.
    ///
    /// - Returns: the place from which to go on.
    private func begin(_ after: Int64, _ output: TailOutput) throws -> (RunPosition, Int64) {
        guard let bounds = try store.journalBounds() else {
            if after > 0 { throw Self.ahead(after, last: 0) }
            return (.start, 0)
        }
        if after > bounds.upperBound { throw Self.ahead(after, last: bounds.upperBound) }
        if let id = try store.run(ofChange: after), let run = try store.run(id) {
            if let last = run.changes?.upperBound, last > after { _ = try write(run, after: after, output) }
            return (run.position, after)
        }
        if bounds.lowerBound > after + 1 { try write(.forgotten(after: after, first: bounds.lowerBound), nil, output) }
        return (.start, after)
    }

    private static func ahead(_ after: Int64, last: Int64) -> Failure {
        .usage("--after \(after): the changelog ends with row \(last); is this the right store?")
    }

    /// Writes the rows of a commit and its end.
    ///
    /// - Returns: the id of its last row.
    private func write(_ run: JournalRun, after: Int64, _ output: TailOutput) throws -> Int64 {
        guard sources.isEmpty || sources.contains(run.report.source) else { return run.changes?.upperBound ?? 0 }
        var last = after
        var hasRows = false
        while !hasEnded {
            let changes = try store.changes(of: run, after: last, limit: Self.rowsAtOnce)
            for change in changes { try write(.change(change), run, output) }
            guard let end = changes.last else { break }
            hasRows = true
            last = end.id
        }
        if hasRows, !hasEnded { try write(.commit(last: last), run, output) }
        return last
    }

    private func write(_ content: TailLine.Content, _ run: JournalRun?, _ output: TailOutput) throws {
        let line = TailLine(content: content, run: run)
        try output.write(isJSON ? try JSONOutput.line(line) : line.text.escapedForTerminal())
    }
}
