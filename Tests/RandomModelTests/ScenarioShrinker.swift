/// Makes a scenario that fails shorter, as long as it still fails.
enum ScenarioShrinker {
    /// - Returns: the shortest that was found within so many plays, and how it fails.
    static func shrink(
        _ scenario: ModelScenario, failure: ScenarioRunner.Failure, plays: Int = 150
    ) async throws -> (scenario: ModelScenario, failure: ScenarioRunner.Failure) {
        var best = (scenario: scenario, failure: failure)
        best.scenario.steps = Array(scenario.steps.prefix(failure.step + 1))
        var left = plays
        var length = max(1, best.scenario.steps.count / 2)
        while length > 0, left > 0 {
            var start = 0
            var isShorter = false
            while start < best.scenario.steps.count, left > 0 {
                var shorter = best.scenario
                shorter.steps.removeSubrange(start..<min(start + length, shorter.steps.count))
                left -= 1
                if let again = try await Self.failure(of: shorter) {
                    shorter.steps = Array(shorter.steps.prefix(again.step + 1))
                    best = (shorter, again)
                    isShorter = true
                } else {
                    start += length
                }
            }
            if !isShorter { length /= 2 }
        }
        return best
    }

    static func failure(of scenario: ModelScenario) async throws -> ScenarioRunner.Failure? {
        do {
            try await ScenarioRunner.play(scenario)
            return nil
        } catch let failure as ScenarioRunner.Failure {
            return failure
        }
    }
}
