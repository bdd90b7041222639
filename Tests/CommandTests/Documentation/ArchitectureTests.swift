import Foundation
import Testing

/// The diagram of `Documentation/Architecture.md` names types and where they live: each of them exists there.
@Suite struct ArchitectureTests {
    /// A line of the diagram of a run: a type, what it does, and the folder of its file.
    @Test func theTypesOfARunLieWhereTheDiagramSays() throws {
        let step = /^[ │├└]*([A-Z][A-Za-z]+) .* ([A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z]+)?)$/
        let page = try MarkdownFile("Documentation/Architecture.md")
        let steps = page.lines.compactMap { try? step.wholeMatch(in: $0)?.output }
        #expect(steps.count > 12)
        for (_, name, folder) in steps {
            let path = MarkdownFile.root.appendingPathComponent("Sources/\(folder)")
            #expect(try Self.declarations(in: path).contains(String(name)), "\(name) is not declared in \(folder)")
        }
    }

    /// Returns the names of the types that the files of a folder declare.
    private static func declarations(in folder: URL) throws -> Set<String> {
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var names: Set<String> = []
        for file in files {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for match in text.matches(of: /\b(?:struct|class|actor|enum|protocol|typealias) ([A-Z][A-Za-z0-9]+)/) {
                names.insert(String(match.1))
            }
        }
        return names
    }
}
