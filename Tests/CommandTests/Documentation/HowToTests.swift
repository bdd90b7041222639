import Foundation
import PostgresStore
import PostgresServer
import TestSupport
import Testing

/// The pages of `Documentation/HowTo`.
private enum HowToPages {
    static let folder = "Documentation/HowTo/"

    /// All pages but the index.
    static let all = ((try? MarkdownFile.all()) ?? []).filter { $0.path.hasPrefix(folder) && $0.name != "README.md" }

    /// Pages with commands for a reader to type.
    static let typed = all.filter { page in page.blocks.contains { $0.language == "sh" } }.map(\.path)
}

/// The how-to guides: their commands do what they say, and each guide is in the index.
@Suite struct HowToTests {
    /// Runs a page as a reader would, from its first command to its last, in a folder of its own.
    ///
    /// A database that the page creates is dropped before and after: a server is shared by all tests.
    @Test(.enabled(if: DocumentTests.hasPrograms), .timeLimit(.minutes(5)), arguments: HowToPages.typed)
    func thePageDoesWhatItSays(_ path: String) async throws {
        let page = try MarkdownFile(path)
        let steps = DocumentedStep.all(of: page.lines.joined(separator: "\n"))
        #expect(!steps.isEmpty)
        var environment: [String: String] = [:]
        let databases = steps.flatMap { $0.commands.matches(of: /createdb (\w+)/).map { String($0.1) } }
        if !databases.isEmpty {
            guard PostgresServer.isAvailable else { return }
            let server = try PostgresServer.shared()
            environment = ["PGHOST": server.folder, "PGPORT": "\(server.port)", "PGUSER": "postgres"]
        }
        try Self.drop(databases)
        let differences = try await withTemporaryFolder { (folder) async throws in
            let shell = try DocumentShell(folder: folder, environment: environment)
            do {
                let differences = try await shell.differences(steps)
                try await shell.end()
                return differences
            } catch {
                try await shell.end()
                throw error
            }
        }
        try Self.drop(databases)
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
    }

    private static func drop(_ databases: [String]) throws {
        for database in databases {
            try PostgresServer.shared().connect().execute("DROP DATABASE IF EXISTS \(database) WITH (FORCE)")
        }
    }

    /// The messages of the page on troubleshooting are the program's: each part between `…` stands in the sources.
    @Test func theMessagesAreThePrograms() throws {
        let sources = try Self.sources()
        let page = try MarkdownFile(HowToPages.folder + "troubleshooting.md")
        let messages = page.lines.map(\.cells).filter { $0.count == 3 }.compactMap(\.[0].codeWords.first)
        #expect(messages.count > 20)
        for message in messages {
            for part in message.split(separator: "…") {
                let text = part.trimmingCharacters(in: CharacterSet(charactersIn: " ;:"))
                #expect(text.isEmpty || sources.contains(text), "no message has '\(text)'")
            }
        }
    }

    private static func sources() throws -> String {
        let folder = MarkdownFile.root.appendingPathComponent("Sources").path
        return try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.hasSuffix(".swift") }
            .map { try String(contentsOfFile: "\(folder)/\($0)", encoding: .utf8) }.joined(separator: "\n")
    }

    @Test func theIndexNamesEachPage() throws {
        let index = Set(try MarkdownFile(HowToPages.folder + "README.md").links.map(\.target))
        #expect(HowToPages.typed.count >= 8)
        for page in HowToPages.all { #expect(index.contains(page.name), "\(page.path) is not in the index") }
    }
}
