import Foundation
import TestStores
import TestSupport
import Testing

/// The rows of changes on the command line: `tail`, and what `check` says of hooks.
@Suite struct ChangedValuesTests {
    private static func source(_ options: String) -> String {
        """
        [sources.shop]
        \(options)
        [[sources.shop.requests]]
        url = "URL/a"
        sync = "mirror"
        tables = [{ table = "product", element = "item", key = ["id"], columns = { id = "@id", name = "@name" } }]

        """
    }

    private func with(
        _ options: String = "keep_history = true", hooks: String = "",
        _ body: (BuiltProgram, StubServer) async throws -> Void
    ) async throws {
        try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                try await withTestStore(in: folder) { (store) async throws in
                    let text = store.declaration + Self.source(options) + hooks
                    try folder.write(text.replacing("URL", with: server.url), to: "sources.toml")
                    try await body(BuiltProgram("tributary", config: folder.file("sources.toml")), server)
                }
            }
        }
    }

    @Test(.onEachStore) func tailPrintsRowsBeforeAndAfter() async throws {
        try await with { (program, server) async throws in
            server.document("/a", "<a><item id='1' name='nut'/><item id='2' name='bolt'/></a>")
            _ = try await program.run("sync", "--force")
            server.document("/a", "<a><item id='1' name='wing nut'/></a>")
            _ = try await program.run("sync", "--force")
            let lines = try await program.run("tail", "--values", "--after", "2").standardOutput
            #expect(lines.contains("update  product  1  name \"nut\" → \"wing nut\""))
            #expect(lines.contains("delete  product  2  id=\"2\" name=\"bolt\"") || lines.contains("bolt"))
            let json = try await program.run("tail", "--values", "--json", "--after", "2").standardOutput
            let update = try #require(json.split(separator: "\n").first { $0.contains("\"update\"") })
            #expect(update.contains(#""before":{"id":"1","name":"nut"}"#), "\(update)")
            #expect(update.contains(#""after":{"id":"1","name":"wing nut"}"#), "\(update)")
            let envelopes = try await program.run("tail", "--debezium", "--json").standardOutput
            let lastOp = try #require(envelopes.split(separator: "\n").last { $0.contains("\"op\"") })
            #expect(lastOp.contains(#""op":"u""#) || lastOp.contains(#""op":"d""#))
            #expect(envelopes.contains(#""op":"c""#) && envelopes.contains(#""connector":"tributary""#))
            let wrong = try await program.run("tail", "--debezium")
            #expect(wrong.status == 64 && wrong.standardError.contains("--debezium needs --json"))
        }
    }

    /// A row that `migrate` has converted is not as its run left it, and no other program has been there.
    @Test(.onEachStore) func changesBeforeAMigration() async throws {
        try await with { (program, server) async throws in
            for name in [1, 2] {
                server.document("/a", "<a><item id='1' name='\(name)'/></a>")
                #expect(try await program.run("sync", "--force").status == 0)
            }
            let file = URL(fileURLWithPath: program.arguments[1])
            let typed = try String(contentsOf: file, encoding: .utf8).replacing(
                "\"@name\"", with: "{ path = \"@name\", type = \"integer\" }")
            try Data(typed.utf8).write(to: file)
            #expect(try await program.run("migrate", "shop", "--yes").status == 0)
            let changes = try await program.run("changes", "shop")
            // PostgreSQL's history has the values as texts, which are the same before and after.
            let expected = StoreKind.by(
                sqlite: "was id = \"1\", name = \"1\" (changed by another program or by migrate since)",
                postgres: "id = \"1\": name 1 → 2")
            #expect(changes.standardOutput.contains(expected), "\(changes)")
        }
    }

    @Test func changesAreLimited() async throws {
        try await with { (program, server) async throws in
            server.document("/a", "<a><item id='1' name='x'/><item id='2' name='x'/><item id='3' name='x'/></a>")
            _ = try await program.run("sync")
            let two = try await program.run("changes", "shop", "--limit", "2")
            #expect(two.standardOutput.split(separator: "\n").count { $0.hasPrefix("    + ") } == 2, "\(two)")
            #expect(two.status == 0 && two.standardOutput.hasSuffix("… more; a higher --limit shows them\n"), "\(two)")
            let all = try await program.run("changes", "--limit", "3")
            #expect(all.standardOutput.split(separator: "\n").count { $0.hasPrefix("    + ") } == 3, "\(all)")
            #expect(!all.standardOutput.contains("more"), "\(all)")
            // Inserted rows share a heading.
            #expect(
                all.standardOutput.hasSuffix(
                    """
                           id   name
                        +  "1"  "x"
                        +  "2"  "x"
                        +  "3"  "x"
                    3 inserted

                    """), "\(all)")
            let json = try await program.run("changes", "--limit", "1", "--json")
            #expect(json.standardOutput.split(separator: "\n").count == 1, "\(json)")
            let wrong = try await program.run("changes", "--limit", "0")
            #expect(wrong.status == 64 && wrong.standardError.contains("--limit must be above 0"), "\(wrong)")
        }
    }

    @Test func checkSaysWhatAHookWillNotKnow() async throws {
        let hook = """
            [hooks.chat]
            on = ["changed"]
            post = "URL/hook"
            values = true
            where = "new.name <> old.name"
            """
        try await with("", hooks: hook) { (program, server) async throws in
            server.document("/a", "<a><item id='1' name='nut'/></a>")
            _ = try await program.run("sync", "--force")
            let checked = try await program.run("check", "--store")
            #expect(checked.status == 0)
            #expect(checked.standardOutput.contains("hooks.chat.values: without keep_history = true, 'before' is null"))
            #expect(checked.standardOutput.contains("hooks.chat.where: without keep_history = true, no row before"))
        }
        let wrong = hook.replacing("new.name <> old.name", with: "new.nam <> 'x'")
        try await with(hooks: wrong) { (program, server) async throws in
            server.document("/a", "<a><item id='1' name='nut'/></a>")
            _ = try await program.run("sync", "--force")
            let checked = try await program.run("check", "--store")
            #expect(checked.status == 78)
            #expect(
                checked.standardError.contains(
                    "hooks.chat.where: table 'product' has no column 'nam'\n"))
        }
        let other = hook.replacing("where = \"new.name <> old.name\"", with: "where = { produkt = \"new.name\" }")
        try await with(hooks: other) { (program, server) async throws in
            server.document("/a", "<a><item id='1' name='nut'/></a>")
            _ = try await program.run("sync", "--force")
            let checked = try await program.run("check", "--store")
            #expect(checked.status == 78)
            #expect(
                checked.standardError.contains(
                    "hooks.chat.where.produkt: no source of the hook writes this table\n"
                ))
        }
    }
}
