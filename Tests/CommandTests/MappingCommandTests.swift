import Foundation
import TestSupport
import Testing

/// `infer`, `check`, `sync`, `plan` and `export`, as users call them one after another.
@Suite struct MappingCommandTests {
    static let document = """
        <shop><order nr="1" placed="2026-11-20"><line sku="a"><qty>1</qty></line><line sku="b"><qty>2</qty></line></order>
        <order nr="2" placed="2026-11-21"><line sku="a"><qty>3</qty></line></order></shop>
        """

    private func withProgram(_ body: (TemporaryFolder, BuiltProgram) async throws -> Void) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(Self.document, to: "orders.xml")
            try await body(folder, BuiltProgram("tributary", config: folder.file("sources.toml")))
        }
    }

    @Test func aProposalIsCheckedPlannedSyncedAndExported() async throws {
        try await withProgram { (folder, program) async throws in
            let proposal = try await program.run("infer", folder.file("orders.xml"), "--name", "shop")
            #expect(proposal.status == 0, "\(proposal.standardError)")
            try folder.write("[store]\npath = \"store.sqlite\"\n" + proposal.standardOutput, to: "sources.toml")
            let check = try await program.run("check")
            #expect(check.status == 0, "\(check.standardError)")

            let planned = try await program.run("plan", "shop")
            #expect(planned.status == 2, "\(planned.standardError)")
            #expect(planned.standardOutput.hasSuffix("Next: `tributary sync shop` commits this.\n"), "\(planned)")
            #expect(planned.standardOutput.contains("will insert 2, update 0, delete 0"))
            #expect(!FileManager.default.fileExists(atPath: folder.file("store.sqlite")))

            let synced = try await program.run("sync")
            #expect(synced.status == 0 && synced.standardOutput.contains("5 inserted"), "\(synced)")
            #expect(try await program.run("plan", "shop").status == 0)

            let changed = Self.document.replacingOccurrences(of: "<qty>3</qty>", with: "<qty>4</qty><new/>")
                .replacingOccurrences(of: "<line sku=\"b\"><qty>2</qty></line>", with: "<line sku=\"b\"/>")
            try folder.write(changed, to: "changed.xml")
            let before = try dumpRows(path: folder.file("store.sqlite"))
            let difference = try await program.run("plan", "shop", "--body", "shop=\(folder.file("changed.xml"))")
            #expect(difference.status == 2, "\(difference)")
            #expect(!difference.standardOutput.contains("Next: "), "\(difference)")
            #expect(difference.standardOutput.contains("qty 3 → 4"), "\(difference.standardOutput)")
            #expect(difference.standardOutput.contains("/shop/order/line/new"), "\(difference.standardOutput)")
            #expect(try dumpRows(path: folder.file("store.sqlite")) == before)

            let json = try await program.run("plan", "shop", "--body", "shop=\(folder.file("changed.xml"))", "--json")
            let object = try #require(
                try JSONSerialization.jsonObject(with: Data(json.standardOutput.utf8)) as? [String: Any])
            #expect(object["updated"] as? Int == 2)

            let exported = try await program.run("export", "shop")
            #expect(exported.status == 0, "\(exported.standardError)")
            try folder.write(exported.standardOutput, to: "orders.xml")
            let again = try await program.run("sync", "--full")
            #expect(
                again.standardOutput.contains("5 rows unchanged"),
                "\(again.standardOutput) \(exported.standardOutput)")
        }
    }

    /// `infer URL >> sources.toml` adds a source, also where one of that name exists.
    @Test func aProposalAddsASourceBesideOneOfItsName() async throws {
        try await withProgram { (folder, program) async throws in
            try folder.write("id,name\n1,Tea\n2,Jam\n", to: "orders.csv")
            var file = try await program.run("infer", folder.file("orders.xml")).standardOutput
            try folder.write(file, to: "sources.toml")
            let second = try await program.run("infer", folder.file("orders.csv"))
            #expect(second.standardOutput.contains("\n[sources.orders_2]\n"), "\(second)")
            file += second.standardOutput
            try folder.write(file, to: "sources.toml")
            let sync = try await program.run("sync")
            #expect(sync.status == 0, "\(sync) \(file)")
            // The document of a source is proposed as another source, which says so.
            let again = try await program.run("infer", folder.file("orders.xml"))
            #expect(again.standardOutput.contains("\n[sources.orders_3]\n"), "\(again)")
            #expect(
                again.standardOutput.contains("has a source with this address, 'orders': keep one of them"), "\(again)")
            try folder.write(file + again.standardOutput, to: "sources.toml")
            #expect(try await program.run("check").status == 0)
            let named = try await program.run("infer", folder.file("orders.xml"), "--name", "orders")
            #expect(named.status == 64 && named.standardError.contains("has a source 'orders'"), "\(named)")
            // So are the feeds of a list.
            try folder.write(
                "<opml><body><outline text='Orders' xmlUrl='http://a.example/f'/></body></opml>", to: "l.opml")
            let list = try await program.run("infer", folder.file("l.opml"))
            #expect(!list.standardOutput.contains("[sources.orders]"), "\(list)")
        }
    }

    @Test func wrongUseSaysWhatToDo() async throws {
        try await withProgram { (folder, program) async throws in
            try folder.write(
                "[sources.s]\n[[sources.s.requests]]\nurl = \"file://\(folder.file("orders.xml"))\"\nparser = \"SitemapParser\"\n",
                to: "sources.toml")
            let export = try await program.run("export", "s")
            #expect(export.status == 64 && export.standardError.contains("no request of source 's' has a mapping"))
            let plan = try await program.run("plan", "x")
            #expect(plan.status == 64 && plan.standardError.contains("there is no source 'x'"))
            let discarded = try await program.run("plan", "s")
            #expect(discarded.status == 1 && discarded.standardError.contains("will be discarded"), "\(discarded)")
            let infer = try await program.run("infer", folder.file("nothing.xml"))
            #expect(infer.status == 64 && infer.standardError.contains("does not exist"), "\(infer)")
            let pattern = try await program.run("infer", folder.file("*.xml"))
            #expect(pattern.status == 64 && pattern.standardError.contains("name one of the files"), "\(pattern)")
            let schema = try await program.run("infer", "--xsd", "file://\(folder.file("nothing.xsd"))")
            #expect(schema.status == 64 && schema.standardError.contains("does not exist"), "\(schema)")
        }
    }

    @Test func checkNamesEveryMistakeOfAMapping() async throws {
        try await withProgram { (folder, program) async throws in
            try folder.write(
                """
                [sources.s]
                [[sources.s.requests]]
                url = "http://example.org/"
                [[sources.s.requests.tables]]
                table = "t"
                element = "a//b"
                key = ["idd"]
                colums = 1
                [sources.s.requests.tables.columns]
                id = { path = "@id", typ = "integer" }
                a = { path = "x:a" }
                b = { path = "b", value = 1 }
                c = { path = "c", type = "date", format = "nonsense" }
                d = { path = "d", type = "integer", default = "many" }
                e = { parent = "other" }
                f = { path = "f", references = "firm" }
                g = { path = "g", encrypted = true }
                h = { path = "h", type = "datetime", format = "%d.%m.%Y %I:%M" }
                """, to: "sources.toml")
            let check = try await program.run("check")
            #expect(check.status == 78)
            for expected in [
                "'a//b' is not a path", "help: did you mean 'columns'?", "help: did you mean 'type'?",
                "the prefix 'x' is not bound", "found 'path' and 'value'",
                "'nonsense' is not a date's format",
                "'%d.%m.%Y %I:%M' has the hour from 1 to 12 without AM or PM", "'many' is not an integer",
                "'firm' does not name a table and its column",
                "needs 'encryption_key' in [store]",
            ] { #expect(check.standardError.contains(expected), "\(expected) in \(check.standardError)") }
        }
    }

    /// A view that the schema after the mappings makes may be asked by `for_each`; that schema runs at each start.
    @Test func checkTriesTheSchemaThatFollows() async throws {
        try await withProgram { (folder, program) async throws in
            func check(_ sql: String) async throws -> BuiltProgram.Output {
                try folder.write(sql, to: "after.sql")
                try folder.write(
                    """
                    [store]
                    path = "store.sqlite"
                    schema_after = "after.sql"
                    [[sources.s.requests]]
                    url = "http://example.org/"
                    tables = [{ table = "firm", element = "firm", key = ["id"], columns = { id = "@id" } }]
                    [[sources.s.requests]]
                    url = "http://example.org/${row:id}"
                    for_each = "SELECT id FROM main.firms"
                    tables = [{ table = "site", element = "site", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                return try await program.run("check")
            }
            let view = "CREATE VIEW IF NOT EXISTS firms AS SELECT id FROM firm;"
            let good = try await check(view)
            #expect(good.status == 0, "\(good)")
            let twice = try await check(view + "CREATE INDEX firm_index ON firm (id)")
            #expect(twice.status == 78 && twice.standardError.contains("already exists"), "\(twice)")
            let broken = try await check(view + "CREATE VIEW IF NOT EXISTS v AS SELECT x FROM firm")
            #expect(broken.status == 78 && broken.standardError.contains("the view 'v' cannot be read"), "\(broken)")
        }
    }

    /// What only a store shows has the key and the line of what is wrong.
    @Test func checkShowsTheLineOfWhatTheStoreRefuses() async throws {
        try await withProgram { (folder, program) async throws in
            func check(
                _ store: String, _ url: String = "http://example.org/", _ more: String = ""
            ) async throws -> String {
                try folder.write(
                    """
                    [store]
                    \(store)
                    [[sources.s.requests]]
                    url = "\(url)"
                    tables = [{ table = "firm", element = "firm", key = ["id"], columns = { id = "@id" } }]
                    \(more)
                    """, to: "sources.toml")
                let output = try await program.run("check")
                #expect(output.status == 78, "\(output)")
                return output.standardError
            }
            try folder.write("CREATE TABLE x (a INTEGER;", to: "schema.sql")
            try folder.write("CREATE VIEW v AS SELECT id FROM firm", to: "after.sql")
            let missing = try await check("schema = \"none.sql\"")
            #expect(missing.contains("sources.toml:2:10: error: store.schema: the file "), "\(missing)")
            let broken = try await check("schema = \"schema.sql\"")
            #expect(
                broken.contains("error: store.schema: \(folder.file("schema.sql")): near \";\": syntax error"),
                "\(broken)")
            #expect(!broken.contains("tributary-check"), "\(broken)")
            let twice = try await check("schema_after = \"after.sql\"")
            #expect(twice.contains("sources.toml:2:16: error: store.schema_after: "), "\(twice)")
            #expect(twice.contains("= help: write DROP VIEW IF EXISTS v before it, "), "\(twice)")
            try folder.write("DROP VIEW IF EXISTS w; CREATE VIEW w AS SELECT none FROM firm;", to: "after.sql")
            let view = try await check("schema_after = \"after.sql\"")
            #expect(
                view.contains("sources.toml:2:16: error: store.schema_after: the view 'w' cannot be read"), "\(view)")
            #expect(!view.contains("store.schema: "), "\(view)")
            let isFolder = try await check("path = \".\"")
            #expect(isFolder.contains("is a folder\n") && isFolder.contains("= help: name a file"), "\(isFolder)")
            let empty = try await check("path = \"\"")
            #expect(empty.contains("error: store.path: the path is empty\n"), "\(empty)")

            let path = "path = \"store.sqlite\""
            let last = try await check(path, "http://example.org/${last:max(updatd)}")
            #expect(
                last.contains(":3:")
                    && last.contains(
                        "error: sources.s.requests[1]: ${last:max(updatd)} of table 'firm': no such column: updatd"),
                "\(last)")
            let rows = """
                [[sources.s.requests]]
                url = "http://example.org/${row:id}"
                for_each = "SELECT id FROM main.nothing"
                tables = [{ table = "site", element = "site", key = ["id"], columns = { id = "@id" } }]
                """
            let each = try await check(path, "http://example.org/", rows)
            #expect(
                each.contains(
                    "sources.toml:8:12: error: sources.s.requests[2].for_each: \"SELECT id FROM main.nothing\" cannot be run"
                ), "\(each)")
            let bare = """
                [[sources.s.requests]]
                url = "http://example.org/sites"
                tables = [{ table = "site", element = "site" }]
                """
            let table = try await check(path, "http://example.org/", bare)
            #expect(table.contains("error: sources.s.requests[2]: table 'site' does not exist\n"), "\(table)")
        }
    }

    @Test func checkNotesAReferenceWithoutAForeignKey() async throws {
        try await withProgram { (folder, program) async throws in
            try folder.write(
                "CREATE TABLE IF NOT EXISTS firm (id INTEGER PRIMARY KEY, name TEXT UNIQUE);"
                    + "CREATE TABLE IF NOT EXISTS person (id TEXT PRIMARY KEY, firm INTEGER);", to: "schema.sql")
            func check(_ table: String) async throws -> BuiltProgram.Output {
                try folder.write(
                    """
                    [store]
                    schema = "schema.sql"
                    [[sources.s.requests]]
                    url = "http://example.org/"
                    [[sources.s.requests.tables]]
                    table = "\(table)"
                    element = "p"
                    key = ["id"]
                    columns = { id = "@id", firm = { path = "firm", references = "firm(name)" } }
                    """, to: "sources.toml")
                return try await program.run("check")
            }
            let existing = try await check("person")
            #expect(
                existing.status == 0 && existing.standardOutput.contains("no foreign key of table 'person'"),
                "\(existing)")
            #expect(try await !check("created").standardOutput.contains("note"))
        }
    }

    @Test func checkTriesTheQueriesOfForEach() async throws {
        try await withProgram { (folder, program) async throws in
            func check(_ query: String) async throws -> String {
                try folder.write(
                    """
                    [[sources.s.requests]]
                    url = "http://example.org/"
                    tables = [{ table = "firm", element = "firm", key = ["id"], columns = { id = "@id" } }]
                    [[sources.s.requests]]
                    url = "http://example.org/${row:id}"
                    for_each = "\(query)"
                    tables = [{ table = "site", element = "site", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                return try await program.run("check").standardError
            }
            #expect(try await check("SELECT id FROM staged.firm").isEmpty)
            #expect(
                try await check("SELECT id AS number FROM staged.firm").contains("no column 'id'; they have number"))
            #expect(try await check("SELECT id FROM staged.firms").contains("no such table: staged.firms"))
        }
    }

    /// They may name tables of later requests.
    @Test func checkCompilesTheExpectations() async throws {
        try await withProgram { (folder, program) async throws in
            func check(_ sql: String) async throws -> BuiltProgram.Output {
                try folder.write(
                    """
                    [[sources.s.requests]]
                    url = "http://example.org/"
                    tables = [{ table = "firm", element = "firm", key = ["id"], columns = { id = "@id" } }]
                    expect = [{ sql = "\(sql)" }]
                    [[sources.s.requests]]
                    url = "http://example.org/sites"
                    tables = [{ table = "site", element = "site", key = ["id"], columns = { id = "@id" } }]
                    """, to: "sources.toml")
                return try await program.run("check")
            }
            let good = try await check("SELECT count(*) > 0 FROM staged.firm JOIN staged.site USING (id)")
            #expect(good.status == 0 && good.standardError.isEmpty, "\(good)")
            let unknown = try await check("SELECT name = 'a' FROM staged.firm")
            #expect(unknown.status == 78, "\(unknown)")
            #expect(
                unknown.standardError.contains(
                    "requests[1].expect[1].sql: cannot be evaluated: no such column: name: "
                        + "SELECT name = 'a' FROM staged.firm\n"), "\(unknown)")
            #expect(
                unknown.standardError.contains("= help: the schema 'staged' has the tables of the store"), "\(unknown)")
            let writing = try await check("DELETE FROM staged.firm")
            #expect(writing.status == 78 && writing.standardError.contains("expect[1].sql: "), "\(writing)")
        }
    }

    /// `01` and `1` are one number to the column, whichever letters name it.
    @Test func checkComparesScopesAsTheColumnDoes() async throws {
        try await withProgram { (folder, program) async throws in
            try folder.write(
                "CREATE TABLE IF NOT EXISTS place (id TEXT, region INTEGER, PRIMARY KEY (id, region));",
                to: "schema.sql")
            func check(_ scope: String) async throws -> BuiltProgram.Output {
                let sources = [("a", "region = \"1\""), ("b", scope)].map { name, scope in
                    """
                    [[sources.\(name).requests]]
                    url = "file://\(folder.file("orders.xml"))"
                    scope = { \(scope) }
                    tables = [{ table = "place", element = "order", key = ["id", "region"], sync = "mirror", columns = { id = "@nr" } }]

                    """
                }
                let store = "[store]\npath = \"store.sqlite\"\nschema = \"schema.sql\"\n"
                try folder.write(store + sources.joined(), to: "sources.toml")
                return try await program.run("check")
            }
            #expect(try await check("Region = \"2\"").status == 0)
            let output = try await check("Region = \"01\"")
            #expect(output.status == 78, "\(output)")
            #expect(
                output.standardError.contains(
                    "sources.b.requests[1]: mirrors table 'place', and so does sources.a.requests[1]"),
                "\(output.standardError)")
        }
    }
}
