import Foundation
import Testing

/// Sources, scopes, sync modes, feeds, faults, clocks and two engines at random, compared after every run with a plain
/// in-memory store: its rows, its changelog, and that validators stand for rows that are there.
///
/// `TRIBUTARY_MODEL_ROUNDS` says how many scenarios are played, `TRIBUTARY_MODEL_SEED` with which one they begin.
@Suite struct RandomModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// Seeds that found something: swapped unique values, deletions on half of the data, scopes that only the column
    /// equates, cascades without a changelog, rows that moved into another's scope and were deleted there.
    private static let telling: [UInt64] = [
        12, 13, 15, 25, 27, 41, 50, 51, 53, 62, 96, 105, 124, 130, 137, 138,
    ]
    private static let seeds: [UInt64] = {
        let first = environment["TRIBUTARY_MODEL_SEED"].flatMap { UInt64($0) }
        let rounds = environment["TRIBUTARY_MODEL_ROUNDS"].flatMap { UInt64($0) }
        if first == nil, rounds == nil { return Array(1000..<1024) + telling }
        return Array((first ?? 1)..<(first ?? 1) + (rounds ?? 40))
    }()
    /// Played side by side.
    static let lanes = 4

    @Test(arguments: 0..<lanes) func theStoreIsWhatAPlainModelSays(_ lane: Int) async throws {
        for index in stride(from: lane, to: Self.seeds.count, by: Self.lanes) {
            let seed = Self.seeds[index]
            let scenario = ScenarioGenerator.scenario(seed: seed, features: .suite, rounds: 12)
            guard let failure = try await ScenarioShrinker.failure(of: scenario) else { continue }
            let shortest = try await ScenarioShrinker.shrink(scenario, failure: failure)
            Issue.record("\(shortest.failure)\n\(shortest.scenario.description)")
        }
    }
}
