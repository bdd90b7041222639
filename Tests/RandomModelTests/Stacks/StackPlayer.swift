import FeedModel
import Foundation
import Synchronization
import TestStores
import TestSupport
import TributaryEngine

/// Plays a ``StackScenario`` over both stores, and compares them after every step with ``ExpectedRows``, with each other, with their
/// changelogs and plans, and with what they held before.
struct StackPlayer {
    struct Failure: Error, CustomStringConvertible {
        var description: String
        init(_ description: String) { self.description = description }
    }

    /// What a store held after a run.
    private struct Past {
        var run: Int64
        var dump: [String]
        var expected: ExpectedRows
    }

    private let scenario: StackScenario
    private let server: StubServer
    private let clock: ManualClock
    private let sides: [StackSide]
    private var expected = ExpectedRows()
    /// By store, oldest first.
    private var past: [[Past]]
    private var round = 0

    static func failure(of scenario: StackScenario) async throws -> Failure? {
        do {
            try await play(scenario)
            return nil
        } catch let failure as Failure {
            return failure
        }
    }

    private static func play(_ scenario: StackScenario) async throws {
        let clock = ManualClock(RandomDocument.epoch)
        try await withStubServer { server in
            try await withSides(StoreKind.allCases.filter(\.isAvailable), [], scenario.stack, server, clock) { sides in
                var player = StackPlayer(scenario: scenario, server: server, clock: clock, sides: sides)
                for index in scenario.rounds.indices {
                    player.round = index
                    do {
                        try await player.playRound(scenario.rounds[index])
                    } catch let failure as Failure {
                        throw Failure("round \(index + 1): \(failure)")
                    } catch {
                        throw Failure("round \(index + 1): \(error)")
                    }
                }
            }
        }
    }

    private static func withSides(
        _ kinds: [StoreKind], _ open: [StackSide], _ stack: RandomStack, _ server: StubServer, _ clock: ManualClock,
        _ body: ([StackSide]) async throws -> Void
    ) async throws {
        guard let kind = kinds.first else { return try await body(open) }
        try await StackSide.with(kind, stack, url: server.url, clock) { side in
            try await withSides(Array(kinds.dropFirst()), open + [side], stack, server, clock, body)
        }
    }

    private init(scenario: StackScenario, server: StubServer, clock: ManualClock, sides: [StackSide]) {
        self.scenario = scenario
        self.server = server
        self.clock = clock
        self.sides = sides
        past = sides.map { _ in [] }
    }

    // MARK: - A round

    private mutating func playRound(_ next: StackScenario.Round) async throws {
        clock.advance(by: 86_400)
        publish(next.document)
        let merged = expected.merging(next.document, of: scenario.stack, now: clock.now())
        for index in sides.indices {
            try await commit(next, merged, at: index)
        }
        // What a discarded run leaves is another version's, which may have been undone.
        guard let merged else { return }
        expected = merged
        for index in sides.indices { try await perform(next.extra, at: index) }
        if let present = past.first?.last { expected = present.expected }
    }

    private func publish(_ document: RandomDocument) {
        for name in ["a", "b"] {
            let body = document.xml(name, of: scenario.stack)
            server.document("/\(name)", body, etag: "\"\(round)-\(body.utf8.count)\"")
        }
    }

    private mutating func commit(_ next: StackScenario.Round, _ merged: ExpectedRows?, at index: Int) async throws {
        let side = sides[index]
        let before = past[index].last
        let last = before == nil ? 0 : try side.lastRun()
        let planned = next.isPlanned && before != nil && merged != nil ? try await side.plan() : nil
        // After an undo the rows of a version that was seen before are wanted again.
        let report = try await side.sync(.full)
        guard let merged else {
            try expect(report.outcome == .discarded, side, "is \(report.outcome) although a reference finds nothing")
            return
        }
        try expect(report.outcome.isGood, side, "is \(report.outcome): \(report.error ?? "")")
        let counts = report.counts
        let rows = try side.canonicalRows()
        let wanted = merged.canonicalRows(of: scenario.stack)
        // A maker that only a replaced record names is made, too.
        let isMade = { (row: String) in row.hasPrefix("maker ") && !wanted.contains(row) }
        let made = scenario.stack.reference == .create ? rows.filter(isMade) : []
        try compare(rows, wanted + made, side, "the rows are not those of the document")
        if let planned {
            try expect(
                planned.inserted == counts.inserted && planned.updated == counts.updated
                    && planned.deleted == counts.deleted,
                side, "the plan says \(planned), the commit \(counts)")
        }
        let changes = try side.changes(after: last)
        try expect(
            changes["insert", default: 0] == counts.inserted && changes["update", default: 0] == counts.updated
                && changes["delete", default: 0] == counts.deleted, side,
            "the changelog says \(changes), the run \(counts)")
        let dump = try side.dump()
        if let before, !scenario.stack.isSoft {
            let gone = before.dump.count - dump.count
            try expect(
                counts.deleted - counts.inserted == gone, side,
                "\(gone) rows fewer than before, and the run says \(counts)")
            let isSame = before.dump == dump
            try expect(
                isSame == (counts.inserted + counts.updated + counts.deleted == 0), side,
                "the rows \(isSame ? "are as they were" : "differ"), and the run says \(counts)")
        }
        past[index].append(Past(run: try side.lastRun(), dump: dump, expected: merged))
    }

    // MARK: - What must hold whatever was committed

    private mutating func perform(_ extra: StackScenario.Extra, at index: Int) async throws {
        let side = sides[index]
        guard let present = past[index].last else { return }
        switch extra {
        case .nothing: break
        case .again:
            try await expectNoChange(side, present, "a second sync") { try await side.sync(.full) }
        case .replay:
            try await expectNoChange(side, present, "a replay") { try await side.replay() }
        case .undo(let back):
            guard let target = past[index].dropLast(back).last else { return }
            // Where nothing has changed since, there is nothing to undo.
            guard try !side.changes(after: target.run).isEmpty else { return }
            try await side.undo(to: target.run)
            try compare(try side.dump(), target.dump, side, "an undo to run \(target.run) brings back other rows")
            past[index].append(Past(run: try side.lastRun(), dump: target.dump, expected: target.expected))
        case .fresh:
            guard scenario.stack.isMirror, !scenario.stack.isSoft, scenario.stack.second != .otherColumns,
                scenario.stack.reference != .create
            else { return }
            try await StackSide.with(side.kind, scenario.stack, url: server.url, clock) { fresh in
                let report = try await fresh.sync()
                guard report.outcome != .discarded else { return }
                let document = scenario.rounds[round].document
                let rows = ExpectedRows().merging(document, of: scenario.stack, now: clock.now())
                try compare(
                    try fresh.canonicalRows(), rows?.canonicalRows(of: scenario.stack) ?? [], side,
                    "a fresh import gives other rows")
            }
        case .move:
            for kind in StoreKind.allCases where kind.isAvailable {
                try await StackSide.with(kind, scenario.stack, url: server.url, clock) { other in
                    try await side.move(to: other)
                    try compare(
                        try other.canonicalRows(), try side.canonicalRows(), side,
                        "moved to \(kind.rawValue), rows differ")
                    guard kind == side.kind else { return }
                    try compare(try other.dump(), present.dump, side, "moved to \(kind.rawValue), rows differ")
                }
            }
        }
    }

    private func expectNoChange(
        _ side: StackSide, _ present: Past, _ name: String, _ run: () async throws -> RunReport
    ) async throws {
        let last = try side.lastRun()
        let report = try await run()
        if report.outcome == .discarded, scenario.stack.reference == .discard { return }
        try expect(report.outcome.isGood, side, "\(name) is \(report.outcome): \(report.error ?? "")")
        let changes = try side.changes(after: last)
        try expect(changes.isEmpty, side, "\(name) of the same documents has changed \(changes)")
        try compare(try side.dump(), present.dump, side, "\(name) of the same documents has changed rows")
    }

    // MARK: - Comparing

    private func expect(_ condition: Bool, _ side: StackSide, _ message: String) throws {
        if !condition { throw Failure("\(side.kind.rawValue): \(message)") }
    }

    private func compare(_ found: [String], _ expected: [String], _ side: StackSide, _ message: String) throws {
        // Swift's own comparison equates texts that stores tell apart.
        let (there, wanted) = (found.map { Array($0.utf8) }, expected.map { Array($0.utf8) })
        guard there.sorted(by: Self.precedes) != wanted.sorted(by: Self.precedes) else { return }
        let lacking = wanted.filter { !there.contains($0) }.map { String(decoding: $0, as: UTF8.self) }
        let surplus = there.filter { !wanted.contains($0) }.map { String(decoding: $0, as: UTF8.self) }
        throw Failure(
            "\(side.kind.rawValue): \(message): lacks \(lacking), has in addition \(surplus); "
                + "\(found.count) rows, expected \(expected.count)")
    }

    private static func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool { left.lexicographicallyPrecedes(right) }
}
