import Foundation
import TestSupport
import Testing

/// Whole daemons in one thread, from a seed. A seed that finds something is replayed with the line that it prints.
@Suite struct SimulatorTests {
    /// Runs the simulator as a program: it takes all jobs of its process.
    private func simulate(_ arguments: String...) async throws -> (status: Int32, output: String) {
        let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
        let folder = (bundle ?? URL(fileURLWithPath: CommandLine.arguments[0])).deletingLastPathComponent()
        let path = folder.appendingPathComponent("simulate").path
        return try await withTemporaryFolder { folder in
            let tool = try Tool("env", ["-u", "TRIBUTARY_SEED", path] + arguments, in: folder)
            return (await tool.end(), tool.output)
        }
    }

    @Test func noSeedFindsAnything() async throws {
        let (status, output) = try await simulate("--seeds", "60", "--jobs", "1", "--no-shrink")
        #expect(status == 0, "\(output)")
    }

    @Test func noPowerFailureFindsAnything() async throws {
        let (status, output) = try await simulate("--power-failures", "200", "--jobs", "1", "--no-shrink")
        #expect(status == 0, "\(output)")
    }

    @Test func aFindingIsShownByTheFewestSteps() async throws {
        let (status, output) = try await simulate("--find", "reload", "--seeds", "60", "--jobs", "1")
        #expect(status == 1)
        #expect(output.contains("shortest: 1 of "), "\(output)")
        let seed = output.split(separator: " ").dropFirst().first.map(String.init) ?? ""
        let step = output.split(separator: "'").last { $0.contains("#") }.map(String.init) ?? ""
        let again = try await simulate(
            "--find", "reload", "--first", seed, "--seeds", "1", "--no-shrink", "--only", step)
        #expect(again.status == 1, "\(again.output)")
    }

    @Test func everySeedIsTheSameWhenItIsRunAgain() async throws {
        let (status, output) = try await simulate("--seeds", "20", "--first", "1000", "--jobs", "1", "--doublecheck")
        #expect(status == 0, "\(output)")
    }

    /// The patches of `Scripts/mutants` fit the tree as it is.
    @Test(arguments: try FileManager.default.contentsOfDirectory(atPath: mutants).filter { $0.hasSuffix(".patch") })
    func everyMutantApplies(name: String) async throws {
        try await withTemporaryFolder { folder in
            let tool = try Tool(
                "git", ["-C", "\(Self.mutants)/../../..", "apply", "--check", "\(Self.mutants)/\(name)"], in: folder)
            #expect(await tool.end() == 0, "\(tool.output)")
        }
    }

    private static let mutants = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path + "/Mutants"
}
