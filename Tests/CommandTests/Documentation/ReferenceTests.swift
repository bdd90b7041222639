import Foundation
import Testing

/// The reference of `sources.toml` says what the reader of the file does: each key, each example, each error.
@Suite struct ReferenceTests {
    /// A key that is nowhere known, and near to none that is.
    private static let unknown = "qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqq"

    /// Returns the keys that the reader knows of a table, as its own error names them.
    private func knownKeys(of header: String, _ sandbox: ReferenceSandbox) throws -> Set<String> {
        let text = ReferenceSandbox.file(around: "\(Self.unknown) = 1\n", of: header)
        return try known(sandbox.problems(in: text), header)
    }

    private func known(_ problems: [String], _ header: String) throws -> Set<String> {
        let list = problems.compactMap { $0.firstMatch(of: /q: unknown key; known here: (.*)/)?.1 }.first
        let names = try #require(list, "\(header): \(problems)").split(separator: ", ").map(String.init)
        return Set(names)
    }

    @Test func everyKeyThatTheReaderKnowsIsDocumentedAndNoOther() async throws {
        let pages = try ReferencePage.all()
        let all = pages.flatMap { page in page.keys.map { (page, $0) } }
        try await ReferenceSandbox.with { sandbox in
            for page in pages where page.header != "[defaults]" {
                for table in Set(page.keys.map(\.table)) {
                    let header = table.isEmpty ? page.header : "[\(page.name).\(table)]"
                    var documented = page.keys.filter { $0.table == table }.map(\.shortName)
                    if table.isEmpty {
                        documented += all.filter { $0.1.alsoIn.contains(page.header) && $0.0.header != page.header }
                            .map(\.1.name)
                    }
                    let known = try knownKeys(of: header, sandbox)
                    #expect(known.subtracting(documented) == [], "\(header): keys that \(page.file.path) does not have")
                    #expect(Set(documented).subtracting(known) == [], "\(header): keys that the reader does not know")
                }
            }
            let inherited = all.filter { $0.1.alsoIn.contains("[defaults]") }.map(\.1.name)
            #expect(try knownKeys(of: "[defaults]", sandbox) == Set(inherited))
            let root = try known(try sandbox.problems(in: "\(Self.unknown) = 1\n"), "the file")
            let tables = Set(pages.map { page in String(page.name.prefix { $0 != "." }) })
            #expect(root == tables)
        }
    }

    @Test func everyTableWithinATableHasItsKeys() throws {
        let pages = try ReferencePage.all()
        for page in pages {
            for key in page.keys where ["table", "string or table", "array of tables"].contains(key.type) {
                let name = "\(page.name).\(key.name)"
                let isDescribed =
                    page.keys.contains { $0.table.hasPrefix(key.name) && $0.name != key.name }
                    || pages.contains { $0.name == name || $0.name.hasPrefix(name + ".") }
                #expect(isDescribed, "\(page.file.path): the keys of '\(key.name)' are nowhere")
            }
        }
    }

    @Test func everyKeyHasTypeDefaultExampleAndError() throws {
        for page in try ReferencePage.all() {
            for key in page.keys { #expect(key.faults == [], "\(page.file.path), '\(key.name)'") }
            let names = page.keys.map(\.name)
            #expect(Set(names).count == names.count, "\(page.file.path): a key is described twice")
        }
    }

    @Test func everyExampleIsRead() async throws {
        try await ReferenceSandbox.with { sandbox in
            for page in try ReferencePage.all() {
                for block in page.file.blocks where block.language == "toml" {
                    let problems = try sandbox.problems(
                        in: ReferenceSandbox.file(around: block.text, of: page.header))
                    #expect(problems == [], "\(page.file.path):\(block.line)")
                }
                for key in page.keys {
                    let names = key.examples.contains { $0.contains(key.shortName) }
                    #expect(names, "\(page.file.path): no example of '\(key.name)' has it")
                }
            }
        }
    }

    @Test func everyWrongValueGivesItsError() async throws {
        try await ReferenceSandbox.with { sandbox in
            for page in try ReferencePage.all() {
                for mistake in page.mistakes + page.keys.flatMap(\.mistakes) {
                    let problems = try sandbox.problems(
                        in: ReferenceSandbox.file(around: mistake.text + "\n", of: page.header))
                    #expect(problems.contains(mistake.message), "\(page.file.path), '\(mistake.text)': \(problems)")
                }
            }
        }
    }

    @Test func theOtherPagesAndTheSamplesAreRead() async throws {
        let pages = Set(try ReferencePage.all().map(\.file.path))
        try await ReferenceSandbox.with { sandbox in
            for file in try MarkdownFile.all() where !pages.contains(file.path) {
                for block in file.blocks where block.language == "toml" {
                    let problems = try sandbox.problems(in: ReferenceSandbox.file(around: block.text, of: nil))
                    #expect(problems == [], "\(file.path):\(block.line)")
                }
            }
            let sample = try String(
                contentsOf: MarkdownFile.root.appendingPathComponent("sources.toml"), encoding: .utf8)
            #expect(try sandbox.problems(in: sample) == [])
        }
    }

    @Test func theReferenceNamesEachPage() throws {
        let reference = try MarkdownFile("Documentation/Reference.md")
        let targets = Set(reference.links.map(\.target))
        for page in try ReferencePage.all() {
            let isNamed = targets.contains(String(page.file.path.dropFirst("Documentation/".count)))
            #expect(isNamed, "\(page.file.path) is not in the list of Reference.md")
            for key in page.keys {
                let anchor = key.name.lowercased().filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
                let isListed = targets.contains("Reference/\(page.file.name)#\(anchor)")
                #expect(isListed, "'\(key.name)' of \(page.header) is not among all keys of Reference.md")
            }
        }
    }
}
