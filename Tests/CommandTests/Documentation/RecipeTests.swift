import Foundation
import TestStores
import TestSupport
import Testing

/// The pages of `Documentation/Recipes`.
private enum RecipePages {
    static let folder = "Documentation/Recipes/"

    /// All pages but the index.
    static let all = ((try? MarkdownFile.all()) ?? []).filter {
        $0.path.hasPrefix(folder) && $0.name != "README.md"
    }

    /// Pages whose feed is one document in XML, JSON, HTML or Protocol Buffers, or pages of it.
    static let ofDocuments = all.filter(isOfDocuments).map(\.path)
    /// Pages whose feed is several files.
    static let ofFiles = all.filter { !isOfDocuments($0) }.map(\.path)

    private static func isOfDocuments(_ file: MarkdownFile) -> Bool {
        file.blocks.contains { Recipe.types[$0.language] != nil }
    }
}

/// The recipes of feeds that are fetched: each page's declaration gives what the page says that `sqlite3` prints.
@Suite(.enabled(if: Tool.isInstalled("sqlite3"))) struct RecipeTests {
    private struct Report: Decodable {
        var inserted: Int
        var updated: Int
        var deleted: Int
    }

    @Test(arguments: RecipePages.ofDocuments) func theDocumentGivesTheRows(_ path: String) async throws {
        let recipe = try Recipe(MarkdownFile(path))
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                recipe.serve(on: server)
                try folder.write(recipe.declaration(at: server.url), to: "sources.toml")
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                let check = try await program.run("check")
                #expect(check.status == 0, "\(check)")

                let first = try await program.run("sync", "--json")
                let loaded = try Self.reports(first)
                #expect(first.status == 0 && loaded.contains { $0.inserted > 0 }, "\(first)")
                let shell = BuiltProgram(path: try #require(Tool.path("sqlite3")), environment: [:])
                let printed = try await shell.run("-box", folder.file("tributary.sqlite"), recipe.query)
                #expect(printed.status == 0 && printed.standardOutput == recipe.printed, "\(printed)")

                let second = try await program.run("sync", "--json", "--full")
                let unchanged = try Self.reports(second)
                #expect(second.status == 0 && !unchanged.isEmpty, "\(second)")
                #expect(unchanged.allSatisfy { $0.inserted + $0.updated + $0.deleted == 0 }, "\(second)")
            }
        }
    }

    @Test func theIndexNamesEachPage() throws {
        let index = try MarkdownFile(RecipePages.folder + "README.md")
        let targets = Set(index.links.map(\.target))
        #expect(RecipePages.ofDocuments.count >= 20)
        for page in RecipePages.all { #expect(targets.contains(page.name), "\(page.path) is not in the index") }
    }

    private static func reports(_ output: BuiltProgram.Output) throws -> [Report] {
        try output.standardOutput.split(separator: "\n").map {
            try JSONDecoder().decode(Report.self, from: Data($0.utf8))
        }
    }
}

/// The parts of a page: a declaration, the documents of its feed, a query, and what `sqlite3 -box` prints for it.
private struct Recipe {
    /// The media types of documents, by the languages of their blocks.
    static let types = [
        "xml": "application/xml", "json": "application/json", "html": "text/html", "base64": "application/x-protobuf",
    ]

    private let declaration: String
    private let documents: [[UInt8]]
    private let type: String
    let query: String
    let printed: String

    init(_ file: MarkdownFile) throws {
        func only(_ language: String) throws -> String {
            let blocks = file.blocks.filter { $0.language == language }
            #expect(blocks.count == 1, "\(file.path) has \(blocks.count) blocks of \(language)")
            return try #require(blocks.first).text
        }
        declaration = try only("toml")
        query = try only("sql")
        printed = try only("text")
        let blocks = file.blocks.filter { Self.types[$0.language] != nil }
        let language = try #require(blocks.first).language
        documents = try blocks.filter { $0.language == language }.map { block in
            guard language == "base64" else { return Array(block.text.utf8) }
            return [UInt8](try #require(Data(base64Encoded: block.text, options: .ignoreUnknownCharacters)))
        }
        type = try #require(Self.types[language])
    }

    /// The declaration with the test's server in place of the publisher's.
    func declaration(at server: String) -> String {
        declaration.replacing(/(?m)^(url\s*=\s*")https?:\/\/[^\/"]+/) { "\($0.1)\(server)" }
    }

    /// Serves one document for each query that is asked, in the order in which they are first asked.
    func serve(on server: StubServer) {
        let (documents, type) = (self.documents, self.type)
        for url in declaration.matches(of: /(?m)^url\s*=\s*"https?:\/\/[^\/"]+([^"?]*)/) {
            let path = String(url.1)
            server.route(path) { [unowned server] request in
                var queries: [String] = []
                for query in server.requests(path).map(\.query) where !queries.contains(query) {
                    queries.append(query)
                }
                guard let index = queries.firstIndex(of: request.query), index < documents.count else {
                    return StubServer.response(404, "")
                }
                return StubServer.response(200, documents[index], ["Content-Type": type])
            }
        }
    }
}

/// The recipes of feeds that are archives: the files that the page shows give the rows that it shows.
@Suite(.onEachStore, .enabled(if: Tool.isInstalled("python3"))) struct FileRecipeTests {
    @Test(arguments: RecipePages.ofFiles) func theFilesGiveTheRows(_ path: String) async throws {
        let recipe = try FileRecipe(MarkdownFile(path))
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                for (name, text) in recipe.documents { try folder.write(text, to: name) }
                try await withStubServer { (server) async throws in
                    try await Self.serve(recipe.documents.map(\.name), in: folder, on: server)
                    let sources = recipe.declaration.replacing(
                        /https:\/\/[^"]+\.zip/, with: server.url + "/archive.zip")
                    try folder.write(store.declaration + sources, to: "sources.toml")
                    let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                    let check = try await program.run("check")
                    #expect(check.status == 0, "\(check)")
                    let sync = try await program.run("sync")
                    #expect(sync.status == 0, "\(sync)")
                    #expect(try store.rows(recipe.query) == recipe.rows)
                    #expect(server.requests("/archive.zip").count == 1)
                }
            }
        }
    }

    /// Serves files of a folder as a ZIP archive.
    private static func serve(_ names: [String], in folder: TemporaryFolder, on server: StubServer) async throws {
        let python = BuiltProgram(path: try #require(Tool.path("python3")), environment: [:])
        let archive = folder.file("archive.zip")
        let made = try await python.start(["-m", "zipfile", "-c", archive] + names.map(folder.file)).output()
        #expect(made.status == 0, "\(made)")
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: archive)))
        server.route("/archive.zip") { _ in StubServer.response(200, bytes, ["Content-Type": "application/zip"]) }
    }
}

/// The parts of such a page: a declaration, and an example with files, a query and the rows that this gives.
private struct FileRecipe {
    let declaration: String
    var documents: [(name: String, text: String)] = []
    let query: String
    let rows: [String]

    init(_ file: MarkdownFile) throws {
        func first(_ language: String) throws -> String {
            try #require(file.blocks.first { $0.language == language }, "\(file.path) has no \(language)").text
        }
        declaration = try first("toml")
        query = try first("sql")
        rows = try first("text").split(separator: "\n").map(String.init)
        for heading in file.headings where heading.level == 3 {
            guard let name = heading.text.wholeMatch(of: /`(.+)`/)?.1 else { continue }
            let block = try #require(file.blocks.first { $0.line > heading.line })
            documents.append((String(name), block.text))
        }
    }
}
