import Foundation
import PostgresServer
import TestSupport
import Testing

/// PostgreSQL's client library is loaded by a process that opens a store in PostgreSQL, libcurl by one that asks a file server.
@Suite struct ClientLibraryTests {
    private func configuration(store: String, url: String) -> String {
        """
        [store]
        \(store)
        [[sources.s.requests]]
        url = "\(url)"
        tables = [{ table = "item", element = "item", key = ["id"], columns = { id = "@id" } }]
        """
    }

    private func filesMapped(by process: Int32) throws -> String {
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: "/proc/\(process)/maps"))
        return String(decoding: try file.readToEnd() ?? Data(), as: UTF8.self)
    }

    /// The files that a sync maps while it waits for its feed, with the store open.
    private func filesMapped(store: String) async throws -> String {
        let gate = Gate()
        return try await withStubServer { (server) async throws in
            try await withTemporaryFolder { (folder) async throws in
                server.route("/feed") { _ in
                    gate.wait()
                    return StubServer.response(200, "<items><item id='1'/></items>")
                }
                let configuration = configuration(store: store, url: "\(server.url)/feed")
                let program = BuiltProgram("tributary", config: try folder.write(configuration, to: "sources.toml"))
                let process = try program.start(["sync"])
                await gate.untilSomebodyWaits()
                let maps = Result { try filesMapped(by: process.identifier) }
                gate.open()
                let output = await process.output()
                #expect(output.status == 0, "\(output)")
                #expect(output.standardOutput.contains("1 inserted"), "\(output)")
                return try maps.get()
            }
        }
    }

    @Test(.enabled(if: FileManager.default.fileExists(atPath: "/proc/self/maps")))
    func aStoreInAFileDoesWithoutIt() async throws {
        let mapped = try await filesMapped(store: "path = \"store.sqlite\"")
        #expect(mapped.contains("libsqlite3."))
        // libpq, and what nothing else of the program is linked with.
        for library in ["libpq.", "libcurl.", "libssh2.", "libssl.", "libgssapi", "libldap"] {
            #expect(!mapped.contains(library), "\(library)")
        }
    }

    @Test(.enabled(if: PostgresServer.isAvailable && FileManager.default.fileExists(atPath: "/proc/self/maps")))
    func aStoreInPostgreSQLLoadsIt() async throws {
        try await withPostgresDatabase { (database) async throws in
            let mapped = try await filesMapped(store: "url = \"\(database.connectionString)\"")
            #expect(mapped.contains("libpq."))
        }
    }

    /// A file that is no library, and that the loader finds first, stands for a machine without libpq.
    @Test func whoHasNoneLearnsWhichPackageToInstall() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("", to: "libpq.so.5")
            let configuration = configuration(store: "url = \"host=/nowhere dbname=feeds\"", url: "http://127.0.0.1:1/")
            let program = BuiltProgram(
                "tributary", config: try folder.write(configuration, to: "sources.toml"),
                environment: ["LD_LIBRARY_PATH": folder.path])
            for command in ["sync", "status"] {
                let output = try await program.run(command)
                #expect(output.status == 1, "\(output)")
                #expect(
                    output.standardError.contains("PostgreSQL's client library cannot be loaded")
                        && output.standardError.contains("install the package libpq5"), "\(output)")
            }
        }
    }

    @Test func whoHasNoLibcurlLearnsWhichPackageToInstall() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("", to: "libcurl.so.4")
            let configuration = configuration(store: "path = \"store.sqlite\"", url: "ftp://127.0.0.1/feed.xml")
            let program = BuiltProgram(
                "tributary", config: try folder.write(configuration, to: "sources.toml"),
                environment: ["LD_LIBRARY_PATH": folder.path])
            #expect(try await program.run("check").status == 0)
            let output = try await program.run("sync")
            let text = output.standardOutput + output.standardError
            #expect(output.status == 1, "\(output)")
            #expect(text.contains("cannot be loaded") && text.contains("install the package libcurl4"), "\(output)")
        }
    }
}
