import Foundation
import Testing

/// The program is killed at any instant, again and again: the store is what it was before the run or after it, and the next
/// run goes on from there.
@Suite struct KilledProgramTests {
    private static let rounds = ProcessInfo.processInfo.environment["TRIBUTARY_MODEL_KILLS"].flatMap { Int($0) } ?? 3

    @Test func aKilledRunHasHappenedOrNot() async throws {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folder = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        let program = folder.appendingPathComponent("tributary").path
        var kills = 0
        for seed in 1...UInt64(Self.rounds) {
            let scenario = ScenarioGenerator.killings(
                seed: seed, features: .suite.subtracting(.movesBetweenScopes), rounds: 8)
            do {
                kills += try await ScenarioRunner.play(scenario, program: program)
            } catch let failure as ScenarioRunner.Failure {
                Issue.record("\(failure)\n\(scenario.description)")
            }
        }
        #expect(kills > 0, "every run had ended before it was to be killed")
    }
}
