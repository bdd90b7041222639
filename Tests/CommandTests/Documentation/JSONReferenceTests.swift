import Foundation
import TestStores
import TestSupport
import Testing

/// `Documentation/Commands.md` names each field that `--json` prints, and no other.
@Suite struct JSONReferenceTests {
    private struct Session {
        let fixture: DocumentedStore
        var printed: [String: JSONFields] = [:]

        /// Runs a command, `hook test` as one word.
        mutating func run(_ command: String, _ arguments: String..., exits status: Int32 = 0) async throws {
            let words = command.split(separator: " ").map(String.init)
            let output = try await fixture.program.start(words + arguments + ["--json"]).output()
            #expect(output.status == status, "\(command) \(arguments): \(output.standardError)")
            try printed[command, default: JSONFields()].add(output.standardOutput)
        }
    }

    /// Runs each command that prints JSON, so that each field shows that can.
    private func session(_ fixture: DocumentedStore) async throws -> [String: JSONFields] {
        var session = Session(fixture: fixture)
        try await session.run("check")
        let wrong = try fixture.folder.write("[sources.s]\nenabeld = true\n", to: "wrong.toml")
        try await session.run("check", "--config", wrong, exits: 78)
        try fixture.serve("<shop a='1'><product id='17' price='1'/><product id='18' price='2'/><more/></shop>")
        try await session.run("plan", "shop", exits: 2)
        try await session.run("sync", "shop", "--force")
        try await session.run("history")
        try await session.run("changes", "shop")
        try await session.run("tail")
        try await session.run("replay", "shop", "--yes")
        try await session.run("replay", "shop", "--plan", "--all")
        try await session.run("undo", "shop", "--plan", exits: 2)
        try await session.run("undo", "shop", "--yes")
        try await session.run("hook test", "works")
        try await session.run("hook test", "fails", exits: 1)
        try await session.run("infer", fixture.folder.file("shop.xml"))
        try fixture.serve("<shop a='1'><product id='99' price='1'/></shop>")
        try await session.run("sync", "shop", "--force", exits: 1)
        let daemon = try fixture.program.start(["run"])
        for await line in daemon.errorLines where line.contains("Running") { break }
        try await untilHeard(fixture)
        try await session.run("status")
        try await session.run("refresh", "rates")
        try await session.run("pause", "shop")
        try await session.run("resume", "shop")
        try await session.run("accept", "shop", "--dry-run", exits: 2)
        try await session.run("accept", "shop", "--yes")
        daemon.signal(SIGTERM)
        #expect(await daemon.end() == 0)
        try await session.run("accept", "rates", "--in-advance", "--yes")
        try await session.run("status")
        try await session.run("accept", "rates", "--withdraw")
        try fixture.declare(price: "integer")
        try fixture.store.execute("UPDATE product SET price = 3")
        // A column of PostgreSQL's for decimals takes integers, too.
        try await session.run("migrate", "shop", "--dry-run", exits: StoreKind.current == .sqlite ? 2 : 0)
        try await session.run("migrate", "shop", "--yes")
        // No product has a 'note', and the first run of a declaration says so. One has no price.
        try fixture.serve(
            "<shop><product id='17' price='1'/><product id='18' price='2'/><product id='99' price='1'/>"
                + "<product id='100' price='?'/></shop>")
        try await session.run("sync", "shop", "--force")
        if StoreKind.current == .sqlite {
            try await session.run("backup", fixture.folder.file("copy.sqlite"))
            try await session.run("restore", fixture.folder.file("copy.sqlite"), "--yes")
        }
        try await session.run("move-store", "--yes", "--to", fixture.folder.file("new.sqlite"))
        try fixture.declare(price: "integer", isComplete: false)
        try await session.run("status")
        try fixture.store.execute(
            "DELETE FROM tributary_change WHERE id < (SELECT max(id) FROM tributary_change) - 1")
        try await session.run("tail", "--after", "1")
        try await session.run("tail", "--values")
        try await session.run("purge", "shop", "--yes")
        return session.printed
    }

    /// Waits until a daemon answers, which a failing test must not do for ever.
    private func untilHeard(_ fixture: DocumentedStore) async throws {
        let deadline = ContinuousClock.now + .seconds(180)
        while try await fixture.program.run("refresh", "site").status != 0 {
            try #require(ContinuousClock.now < deadline, "no daemon answers within 180 s")
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    @Test func everyFieldIsDescribedAndNoOther() async throws {
        let page = try MarkdownFile("Documentation/Commands.md")
        let sections = page.headings.filter { $0.level == 2 }.map { (heading: $0, lines: page.section(of: $0)) }
        let shared = Dictionary(
            sections.filter { $0.heading.text.hasSuffix(" in JSON") }.map { section in
                ("#" + section.heading.text.lowercased().replacing(" ", with: "-"), JSONFields.Described(section.lines))
            }, uniquingKeysWith: { first, _ in first })
        #expect(shared.count == 2)
        var printed: [String: JSONFields] = [:]
        let kinds = StoreKind.allCases.filter(\.isAvailable)
        for kind in kinds {
            try await StoreKind.$current.withValue(kind) {
                try await DocumentedStore.with { (fixture) async throws in
                    for (command, fields) in try await session(fixture) {
                        printed[command, default: JSONFields()].add(fields)
                    }
                }
            }
        }
        let isComplete = kinds.count == StoreKind.allCases.count
        var inShared: Set<String> = []
        for (heading, lines) in sections where heading.text.hasPrefix("`") {
            let name = heading.text.replacing("`", with: "")
            guard lines.contains(where: { $0.hasPrefix("- `--json`") }) else { continue }
            let found = try #require(printed[name], "no test runs '\(name) --json'").found
            var described = JSONFields.Described(lines)
            if isComplete {
                #expect(Set(described.fields.keys).subtracting(found) == [], "'\(name)' prints no such fields")
            }
            for line in lines where line.hasPrefix("- `--json`") {
                for (anchor, fields) in shared where line.contains("(\(anchor))") {
                    described.fields.merge(fields.fields) { own, _ in own }
                }
            }
            let untold = found.filter { !described.covers($0) }
            #expect(untold == [], "fields of '\(name)' that Commands.md does not have")
            inShared.formUnion(found)
        }
        for (anchor, fields) in shared {
            #expect(Set(fields.fields.keys).subtracting(inShared) == [], "no command prints these of \(anchor)")
        }
    }
}

extension JSONFields {
    fileprivate mutating func add(_ other: JSONFields) { found.formUnion(other.found) }
}
