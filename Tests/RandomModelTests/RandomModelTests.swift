import Foundation
import Testing

/// Sources, scopes, sync modes, feeds, faults, clocks and two engines at random, compared after every run with a plain
/// in-memory store: its rows, its journal, and that validators stand for rows that are there.
///
/// `TRIBUTARY_MODEL_ROUNDS` says how many scenarios are played, `TRIBUTARY_MODEL_SEED` with which one they begin.
@Suite struct RandomModelTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let rounds = environment["TRIBUTARY_MODEL_ROUNDS"].flatMap { Int($0) } ?? 40
    private static let firstSeed = environment["TRIBUTARY_MODEL_SEED"].flatMap { UInt64($0) } ?? 1
    /// Played side by side.
    static let lanes = 4

    @Test(arguments: 0..<lanes) func theStoreIsWhatAPlainModelSays(_ lane: Int) async throws {
        for round in stride(from: lane, to: Self.rounds, by: Self.lanes) {
            let seed = Self.firstSeed + UInt64(round)
            let scenario = ScenarioGenerator.scenario(seed: seed, features: .suite, rounds: 12)
            guard let failure = try await ScenarioShrinker.failure(of: scenario) else { continue }
            let shortest = try await ScenarioShrinker.shrink(scenario, failure: failure)
            Issue.record("\(shortest.failure)\n\(shortest.scenario.description)")
        }
    }
}
