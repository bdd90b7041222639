import Foundation
import TestSupport
import Testing

/// What our documents tell a reader to type is typed here, and prints what they say.
@Suite struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath + "/../../../..").standardized.path

    /// False where a program is missing that the reader is told to have.
    static let hasPrograms: Bool = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        return ["bash", "python3", "sqlite3"].allSatisfy { program in
            folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
        }
    }()

    @Test(.enabled(if: hasPrograms), .timeLimit(.minutes(10))) func theTutorialDoesWhatItSays() async throws {
        let steps = try Self.steps("Documentation/Tutorial.md") { _ in true }
        #expect(steps.count > 20)
        let differences = try await Self.differences(steps)
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    /// The address of the European Central Bank is the sample feed's here.
    @Test(.enabled(if: hasPrograms), .timeLimit(.minutes(10))) func theFirstSourceOfTheREADME() async throws {
        let steps = try Self.steps("README.md") { $0 == "A first source" }
        #expect(!steps.isEmpty)
        let differences = try await Self.differences(
            steps,
            words: [
                "https://www.ecb.europa.eu/stats/eurofxref/eurofxref-daily.xml":
                    "file://\(Self.root)/Scripts/sample-feeds/eurofxref-daily.xml"
            ])
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    @Test func outputIsComparedButForTimes() {
        let step = DocumentedStep.all(of: "# A\n```sh\nls\n```\n\n```text\na  now (9 B in 18 ms)\n…\nb … c\n```\n")[0]
        #expect(step.section == "A" && step.commands == "ls\n" && step.line == 3)
        for good in ["a 3 s ago (9 B in 1.5 s)\nb 1 c\n", "a now (9 B in 2 ms)\n1\n2\nb   2 3  c"] {
            #expect(step.isAnswered(by: good), "\(good)")
        }
        for bad in ["a now (8 B in 2 ms)\nb 1 c", "a now (9 B in 2 ms)\nb 1 d", "a now (9 B in 2 ms)\nb 1 c\nd", ""] {
            #expect(!step.isAnswered(by: bad), "\(bad)")
        }
    }

    private static func steps(_ document: String, where isMeant: (String) -> Bool) throws -> [DocumentedStep] {
        let text = try String(contentsOfFile: "\(root)/\(document)", encoding: .utf8)
        return DocumentedStep.all(of: text).filter { isMeant($0.section) }
    }

    private static func differences(
        _ steps: [DocumentedStep], words: [String: String] = [:]
    ) async throws -> [String] {
        try await withTemporaryFolder { (folder) async throws in
            let shell = try DocumentShell(folder: folder, environment: [:], words: words)
            do {
                let differences = try await shell.differences(steps)
                try await shell.end()
                return differences
            } catch {
                try await shell.end()
                throw error
            }
        }
    }
}
