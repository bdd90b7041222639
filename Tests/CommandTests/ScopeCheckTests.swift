import Foundation
import TestStores
import TestSupport
import Testing

/// Requests that may take rows of one another, as `check` finds them.
@Suite struct ScopeCheckTests {
    private func check(_ requests: [String], _ options: String = "") async throws -> BuiltProgram.Output {
        try await withTemporaryFolder { (folder) async throws in
            let sources = requests.enumerated().map { index, request in
                """
                [[sources.s\(index).requests]]
                url = "http://localhost/\(index)"
                \(request)
                """
            }
            try folder.write(sources.joined(separator: "\n") + options, to: "sources.toml")
            return try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("check")
        }
    }

    private static func request(_ options: String, key: String, columns: String = "") -> String {
        """
        \(options)
        tables = [{ table = "price", element = "p", key = [\(key)], columns = { id = "@id"\(columns) } }]
        """
    }

    @Test func aScopeOutsideOfTheKeyBesideAnotherWriter() async throws {
        let wrong = try await check([
            Self.request("sync = \"mirror\"\nscope = { shop = \"a\" }", key: "\"id\""),
            Self.request("sync = \"mirror\"\nscope = { shop = \"b\" }", key: "\"id\""),
        ])
        #expect(wrong.status == 78, "\(wrong)")
        for expected in [
            "sources.toml:1:14: error: sources.s0.requests[1]: its scope names the column 'shop' of table 'price'",
            "which is not part of the key (id)", "sources.s1.requests[1] writes the table, too",
            "make 'shop' part of the key",
        ] { #expect(wrong.standardError.contains(expected), "\(expected) in \(wrong.standardError)") }

        // Nobody else writes the table, or the key tells the rows apart, or it is the same scope.
        let alone = try await check([Self.request("sync = \"mirror\"\nscope = { shop = \"a\" }", key: "\"id\"")])
        #expect(alone.status == 0, "\(alone)")
        let apart = try await check([
            Self.request("sync = \"mirror\"\nscope = { shop = \"a\" }", key: "\"Shop\", \"id\""),
            Self.request("sync = \"mirror\"\nscope = { shop = \"b\" }", key: "\"shop\", \"id\""),
        ])
        #expect(apart.status == 0 && !apart.standardOutput.contains("note: "), "\(apart)")
        let same = try await check([
            Self.request("scope = { shop = \"a\" }", key: "\"id\""),
            Self.request("scope = { shop = \"a\" }", key: "\"id\""),
        ])
        #expect(same.status == 0, "\(same)")
        let spelled = try await check([
            Self.request("scope = { shop = \"a\" }", key: "\"id\""),
            Self.request("scope = { Shop = \"a\" }", key: "\"id\""),
        ])
        #expect(spelled.status == 0, "\(spelled)")
        let constant = try await check([
            Self.request("scope = { shop = \"a\" }", key: "\"feed\", \"id\"", columns: ", feed = { value = \"x\" }"),
            Self.request("scope = { shop = \"b\" }", key: "\"feed\", \"id\"", columns: ", feed = { value = \"y\" }"),
        ])
        #expect(constant.status == 0, "\(constant)")
    }

    /// The declarations alone show it: no store is asked, and no row is written.
    @Test(.onEachStore, .timeLimit(.minutes(5))) func aScopeOutsideOfTheKeyIsRefusedByAllThatWrites() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try await withTestStore(in: folder) { (store) async throws in
                let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
                func write(key: String, south: String = "south") throws {
                    let sources = [("a", "north"), ("b", south)].map { name, supplier in
                        """
                        [[sources.\(name).requests]]
                        url = "file://\(folder.file("\(name).xml"))"
                        sync = "mirror"
                        scope = { supplier = "\(supplier)" }
                        tables = [{ table = "offer", element = "p", key = [\(key)], columns = { sku = "@sku" } }]

                        """
                    }
                    try folder.write(store.declaration + sources.joined(), to: "sources.toml")
                }
                for name in ["a", "b"] { try folder.write("<all><p sku='1'/></all>", to: "\(name).xml") }
                try write(key: "\"sku\"")
                for command in [["check"], ["check", "--store"], ["sync"], ["sync", "a"], ["plan", "a"], ["run"]] {
                    let output = try await program.start(command).output()
                    #expect(output.status == 78, "\(command): \(output)")
                    #expect(
                        output.standardError.contains(
                            "error: sources.a.requests[1]: its scope names the column 'supplier' of table 'offer', which "
                                + "is not part of the key (sku), and sources.b.requests[1] writes the table, too"),
                        "\(command): \(output)")
                }
                try write(key: "\"supplier\", \"sku\"")
                for command in [["check"], ["check", "--store"], ["sync"]] {
                    let output = try await program.start(command).output()
                    #expect(output.status == 0, "\(command): \(output)")
                }
                #expect(
                    try store.rows("SELECT supplier, sku FROM offer ORDER BY supplier") == ["north|1", "south|1"])
            }
        }
    }

    @Test func aMirrorWithoutAScopeBesideAnotherWriter() async throws {
        let beside = try await check([
            Self.request("sync = \"mirror\"", key: "\"id\""), Self.request("sync = \"upsert\"", key: "\"id\""),
        ])
        #expect(beside.status == 0, "\(beside)")
        #expect(beside.standardOutput.contains("note: "), "\(beside)")
        #expect(
            beside.standardOutput.contains("sources.toml:1: sources.s0.requests[1]: mirrors all of table 'price'"),
            "\(beside)")
        #expect(beside.standardOutput.contains("rows that only the other has are deleted"), "\(beside)")
        let upserts = try await check([
            Self.request("sync = \"upsert\"", key: "\"id\""), Self.request("sync = \"upsert\"", key: "\"id\""),
        ])
        #expect(!upserts.standardOutput.contains("note: "), "\(upserts)")
    }

    /// A table without a schema's place in SQLite is told of.
    @Test func aSchemaInAFileIsRefused() async throws {
        let wrong = try await check([
            """
            tables = [{ table = "warehouse.fact", element = "p", key = ["id"], columns = { id = "@id" } }]
            """
        ])
        #expect(wrong.status == 78, "\(wrong)")
        #expect(wrong.standardError.contains("= help: write \"warehouse_fact\""), "\(wrong)")
        #expect(wrong.standardError.contains("sources.toml:3:"), "\(wrong)")
    }

    /// The tables to whose rows others refer are there first, whatever the names of their sources are.
    @Test(arguments: ["a", "z"])
    func aReferenceToAnotherSource(name: String) async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write(
                """
                [[sources.category.requests]]
                url = "http://localhost/c"
                tables = [{ table = "category", element = "c", key = ["id"], columns = { id = "@id" } }]
                [[sources.\(name).requests]]
                url = "http://localhost/p"
                tables = [{ table = "p", element = "p", key = ["id"], columns = { id = "@id", c = { path = "@c", references = "category(id)" } } }]
                """, to: "sources.toml")
            let output = try await BuiltProgram("tributary", config: folder.file("sources.toml")).run("check")
            #expect(output.status == 0, "\(output)")
        }
    }

    /// The view of the versions is read where the store is attached under another name.
    @Test func aStoreWithVersions() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("<l><p id='1' name='a'/></l>", to: "p.xml")
            try folder.write(
                """
                [sources.s]
                keep_history = "3y"
                [[sources.s.requests]]
                url = "file://\(folder.file("p.xml"))"
                [[sources.s.requests.tables]]
                table = "price"
                element = "/l/p"
                key = ["id"]
                columns = { id = "@id", name = "@name" }
                """, to: "sources.toml")
            let program = BuiltProgram("tributary", config: folder.file("sources.toml"))
            for arguments in [["sync", "s"], ["check"], ["export", "s"], ["plan", "s", "--full"]] {
                let output = try await program.start(arguments).output()
                #expect(output.status == 0, "\(arguments): \(output)")
            }
        }
    }
}
