import Foundation
import Logging
import TestStores
import TestSupport
import Testing
import Tributary

/// The code in the documentation is code that the suite compiles, and that does what is said of it.
@Suite struct SnippetTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    /// The files whose code the documentation may show.
    private func compiled() throws -> String {
        let root = MarkdownFile.root
        let folders = ["Tests/CommandTests/Documentation/Snippets", "Sources/ContactsDaemon"]
        return try folders.flatMap { folder in
            try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)
                .filter { $0.hasSuffix(".swift") }
                .map { try String(contentsOf: root.appendingPathComponent("\(folder)/\($0)"), encoding: .utf8) }
        }.map(Self.lines).joined(separator: "\n")
    }

    /// The lines of code without indentation and empty ones, and without `@main`, which a test cannot have.
    private static func lines(_ text: String) -> String {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && $0 != "@main" }.joined(separator: "\n")
    }

    @Test func allSwiftInTheCatalogueIsCompiled() throws {
        let compiled = try compiled()
        let folder = "Sources/Tributary/Tributary.docc"
        let articles = try FileManager.default
            .contentsOfDirectory(atPath: MarkdownFile.root.appendingPathComponent(folder).path)
            .filter { $0.hasSuffix(".md") }
        #expect(articles.count >= 4)
        for path in ["README.md"] + articles.sorted().map({ "\(folder)/\($0)" }) {
            let file = try MarkdownFile(path)
            for block in file.blocks where block.language == "swift" {
                let isThere = compiled.contains(Self.lines(block.text))
                #expect(isThere, "\(file.path):\(block.line) is in no file that is compiled")
            }
        }
    }

    @Test func theParserAndTheRecordOfTheArticlesFillTheirTables() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(
                """
                <stations region="north"><station id="s1"><name>Harbour</name><opens>7:30</opens></station></stations>
                """, to: "stations.xml")
            try folder.write(
                "<menu><food number='7'><name>Rice</name><facts><calories>130</calories></facts></food></menu>",
                to: "menu.xml")
            let file = try folder.write(
                """
                [store]
                path = "store.sqlite"
                [sources.stations]
                [[sources.stations.requests]]
                url = "file://\(folder.file("stations.xml"))"
                parser = "StationsParser"
                [sources.menu]
                [[sources.menu.requests]]
                url = "file://\(folder.file("menu.xml"))"
                parser = "Food"
                """, to: "sources.toml")
            let reports = try await refreshOnce(file: file, logger: Self.logger)
            #expect(reports.map(\.error) == [nil, nil])
            let path = folder.file("store.sqlite")
            let station = try await sqlite(path, "SELECT id || name || opens || region FROM station")
            #expect(station == "s1Harbour450north")
            #expect(try await sqlite(path, "SELECT id || name || calories FROM food") == "7Rice130")
            try folder.write("<stations><station id='s1'><opens>25:00</opens></station></stations>", to: "stations.xml")
            let again = try await refreshOnce(file: file, logger: Self.logger)
            let error = try #require(again.compactMap(\.error).first)
            #expect(error.contains("a time such as 7:30") && error.contains("25:00"), "\(error)")
        }
    }

    @Test func aRecordIsReadAndWritten() throws {
        let food = try decodedFood()
        #expect(food.id == 7 && food.course == .main && food.calories == nil)
        let text = try XMLRecordEncoder().encode(food)
        #expect(text.contains("number=\"7\"") && text.contains("<course>main</course>"))
    }
}
