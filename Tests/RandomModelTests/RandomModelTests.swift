import Foundation
import Testing

/// Sources, scopes, sync modes, feeds, faults, clocks and two engines at random, compared after every run with a plain
/// in-memory store: its rows, its journal, and that validators stand for rows that are there.
///
/// `TRIBUTARY_MODEL_ROUNDS` says how many scenarios are played, `TRIBUTARY_MODEL_SEED` with which one they begin.
@Suite struct RandomModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    /// Seeds that found something: swapped unique values, deletions on half of the data, scopes that only the column
    /// equates, cascades without a journal.
    private static let telling: [UInt64] = [23, 25, 41, 51, 62, 63, 96, 127, 130, 144]
    private static let seeds: [UInt64] = {
        let first = environment["TRIBUTARY_MODEL_SEED"].flatMap { UInt64($0) }
        let rounds = environment["TRIBUTARY_MODEL_ROUNDS"].flatMap { UInt64($0) }
        if first == nil, rounds == nil { return Array(1000..<1030) + telling }
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
