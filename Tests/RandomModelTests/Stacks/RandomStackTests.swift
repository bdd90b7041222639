import Foundation
import Testing

/// Mappings of every kind at random, over both stores: keys of every type, records within records, references, trees, two requests into one
/// table, soft deletion, expiry, history. After each commit the rows are those that the rules give, and the changelog, the counts, the
/// plan, a second sync, a replay, an undo, a fresh import and a move agree with them.
///
/// `TRIBUTARY_STACK_ROUNDS` says how many scenarios are played, `TRIBUTARY_STACK_SEED` with which one they begin.
@Suite struct RandomStackTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seeds: [UInt64] = {
        let first = environment["TRIBUTARY_STACK_SEED"].flatMap { UInt64($0) } ?? 1
        return Array(first..<first + (environment["TRIBUTARY_STACK_ROUNDS"].flatMap { UInt64($0) } ?? 30))
    }()
    /// Played side by side.
    static let lanes = 4

    @Test(arguments: 0..<lanes) func bothStoresHoldWhatTheRulesGive(_ lane: Int) async throws {
        for index in stride(from: lane, to: Self.seeds.count, by: Self.lanes) {
            let scenario = StackScenario(seed: Self.seeds[index], rounds: 4)
            guard let failure = try await StackPlayer.failure(of: scenario) else { continue }
            let (shortest, last) = try await scenario.shortened(failure)
            Issue.record("\(last)\n\(shortest)")
        }
    }
}
