import Foundation
import Testing

/// `Documentation/Architecture.md` names types and where they live: each of them exists there.
@Suite struct ArchitectureTests {
    private struct Page {
        var lines: [String]

        init() throws {
            let page = try MarkdownFile.all().first { $0.path == "Documentation/Architecture.md" }
            lines = try #require(page).lines
        }
    }

    /// A line of the diagram of a run: a type, what it does, and the folder of its file.
    @Test func theTypesOfARunLieWhereTheDiagramSays() throws {
        let step = /^[ │├└]*([A-Z][A-Za-z]+) .* ([A-Z][A-Za-z]+(?:\/[A-Z][A-Za-z]+)?)$/
        let steps = try Page().lines.compactMap { try? step.wholeMatch(in: $0)?.output }
        #expect(steps.count > 12)
        for (_, name, folder) in steps {
            let path = MarkdownFile.root.appendingPathComponent("Sources/\(folder)")
            #expect(try Self.declarations(in: path).contains(String(name)), "\(name) is not declared in \(folder)")
        }
    }

    /// The paragraph on an unchanged run gives a number of types, and names those that decide.
    @Test func theTypesOfAnUnchangedRunExist() throws {
        let paragraphs = try Page().lines.split(separator: "").map { $0.joined(separator: " ") }
        let paragraph = try #require(paragraphs.first { $0.contains(/names \d+ types of this repository/) })
        let named = paragraph.matches(of: /`([A-Z][A-Za-z0-9]+)`/).map { String($0.1) }
        let total = try #require(paragraph.firstMatch(of: /names (\d+) types/).flatMap { Int($0.1) })
        #expect(named.count <= total)
        #expect(Set(named).count == named.count)
        let declared = try Self.declarations(in: MarkdownFile.root.appendingPathComponent("Sources"))
        for name in named { #expect(declared.contains(name), "\(name) is not declared in Sources") }
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
