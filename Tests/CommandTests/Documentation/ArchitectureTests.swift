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

    /// The paragraph on an unchanged run lists its types, and gives their number and that of the files that declare them.
    @Test func theTypesOfAnUnchangedRunAreCounted() throws {
        let paragraphs = try Page().lines.split(separator: "").map { $0.joined(separator: " ") }
        let numbers = /(\d+) types in (\d+) files/
        let paragraph = try #require(paragraphs.first { $0.contains(numbers) })
        let named = paragraph.matches(of: /`([A-Z][A-Za-z0-9]+)`/).map { String($0.1) }
        #expect(Set(named).count == named.count)
        let files = try Self.filesOfTypes()
        var declaring: Set<String> = []
        for name in named {
            #expect(files[name]?.count == 1, "\(name) is declared in \(files[name] ?? [])")
            declaring.formUnion(files[name] ?? [])
        }
        let given = try #require(paragraph.firstMatch(of: numbers))
        #expect(given.1 == "\(named.count)" && given.2 == "\(declaring.count)")
    }

    /// Returns the files that declare a type at their top level, by the type's name.
    private static func filesOfTypes() throws -> [String: Set<String>] {
        let folder = MarkdownFile.root.appendingPathComponent("Sources")
        let declaration = /^(?:[a-z]+ )*(?:struct|class|actor|enum|protocol|typealias) ([A-Z][A-Za-z0-9]+)/
        var files: [String: Set<String>] = [:]
        for file in try FileManager.default.subpathsOfDirectory(atPath: folder.path) where file.hasSuffix(".swift") {
            let text = try String(contentsOf: folder.appendingPathComponent(file), encoding: .utf8)
            for line in text.split(separator: "\n") {
                guard let match = line.prefixMatch(of: declaration) else { continue }
                files[String(match.1), default: []].insert(file)
            }
        }
        return files
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
