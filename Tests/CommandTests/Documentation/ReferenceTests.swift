import FeedConfiguration
import Foundation
import TestSupport
import Testing

/// The reference of `sources.toml` says what the reader of the file does: each key, each example, each error.
@Suite struct ReferenceTests {
    @Test func everyKeyIsAsTheTableOfKeysHasIt() throws {
        let pages = try ReferencePage.all()
        let all = pages.flatMap { page in page.keys.map { (page, $0) } }
        var tables = Dictionary(uniqueKeysWithValues: KeyTable.all.map { ($0.path, $0) })
        for page in pages {
            for part in Set(page.keys.map(\.table)).union([""]) {
                let path = part.isEmpty ? page.name : "\(page.name).\(part)"
                let table = try #require(tables[path], "there is no table '\(path)'")
                tables[path] = nil
                let own = page.keys.filter { $0.table == part }
                let others = all.filter { part.isEmpty && $0.1.alsoIn.contains(page.header) }.map(\.1.name)
                #expect(Set(own.map(\.shortName) + others) == Set(table.entries.map(\.name)), "\(path)")
                for entry in table.entries {
                    guard let key = own.first(where: { $0.shortName == entry.name }) else { continue }
                    let place = "\(page.file.path), '\(key.name)'"
                    #expect(key.type == entry.typeText, "\(place)")
                    #expect(key.fallback == entry.defaultText, "\(place)")
                    #expect(key.alsoIn.isEmpty == (entry.inheritance == .never), "\(place)")
                    #expect(key.meaning.hasPrefix(entry.meaning.dropLast()), "\(place): \(entry.meaning)")
                }
            }
        }
        #expect(tables.keys.sorted() == ["the file"], "tables without a page")
    }

    @Test func theSchemaInTheRepositoryIsThePrograms() async throws {
        let output = try await BuiltProgram("tributary", config: "none").run("check", "--json-schema")
        let file = MarkdownFile.root.appendingPathComponent("Documentation/sources.schema.json")
        let kept = try String(contentsOf: file, encoding: .utf8)
        #expect(
            output.standardOutput == kept, "run 'tributary check --json-schema > Documentation/sources.schema.json'")
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
