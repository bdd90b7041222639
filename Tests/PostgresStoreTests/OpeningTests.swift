import FeedModel
import Foundation
import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct OpeningTests {
    @Test func openingCreatesTheTablesOnce() async throws {
        try await withPostgresDatabase { (database) async throws in
            for _ in 0..<2 { try database.openStore().close() }
            #expect(try database.rows("SELECT name FROM tributary_migration") == ["tributary.1.0"])
            let tables = try database.rows(
                "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'tributary%'")
            #expect(
                Set(tables).isSuperset(of: [
                    "tributary_run", "tributary_request", "tributary_source", "tributary_change", "tributary_host",
                ]))
        }
    }

    @Test func manyMayOpenANewStoreAtOnce() async throws {
        try await withPostgresDatabase { (database) async throws in
            let schema =
                "CREATE TABLE IF NOT EXISTS item (id int PRIMARY KEY); CREATE INDEX IF NOT EXISTS i ON item (id)"
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask { try await onThread { try database.openStore(schema: schema).close() } }
                }
                try await group.waitForAll()
            }
            #expect(try database.rows("SELECT count(*) FROM tributary_migration") == ["1"])
        }
    }

    @Test func theTablesAreInTheFirstSchemaOfTheSearchPath() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("CREATE SCHEMA feeds")
            let url = database.connectionString + " options='-c search_path=feeds,public'"
            try PostgresStore(url: url, workFolder: "/tmp").close()
            let schemas = try database.rows(
                "SELECT DISTINCT relnamespace::regnamespace FROM pg_class WHERE relname LIKE 'tributary%'")
            #expect(schemas == ["feeds"])
            let nowhere = message {
                _ = try PostgresStore(
                    url: database.connectionString + " options='-c search_path=nowhere'", workFolder: "/tmp")
            }
            #expect(nowhere?.contains("no schema of the search_path exists") == true, "\(nowhere ?? "")")
        }
    }

    @Test func aSchemaIsRunWholeOrNotAtAllAndNamesTheLineOfItsMistake() async throws {
        try await withPostgresDatabase { (database) async throws in
            let mistake = "CREATE TABLE item (id int);\n\nCREATE TABEL other (id int);"
            let error = message { _ = try database.openStore(schema: mistake) }
            #expect(error?.contains("line 3: syntax error") == true, "\(error ?? "")")
            #expect(try database.rows("SELECT to_regclass('item'), to_regclass('tributary_run')") == ["NULL|NULL"])
            let store = try database.openStore(schema: "SELECT set_config('search_path', '', false)")
            let other = message { try store.execute(schema: mistake) }
            #expect(other?.contains("line 3: syntax error") == true, "\(other ?? "")")
            try store.execute(schema: "CREATE TABLE item (id int)")
            #expect(try database.rows("SELECT to_regclass('item')") == ["item"])
            // The settings of a schema are not those of the store.
            #expect(try store.read { try $0.sources.all() }.isEmpty)
            try store.close()
        }
    }

    @Test func readingCreatesNothing() async throws {
        try await withPostgresDatabase { (database) async throws in
            let error = message { _ = try PostgresStore(readingAt: database.connectionString, workFolder: "/tmp") }
            #expect(error?.contains("it has no tables of Tributary") == true, "\(error ?? "")")
            #expect(try database.rows("SELECT to_regclass('tributary_migration')") == ["NULL"])
            try database.openStore().close()
            let store = try PostgresStore(readingAt: database.connectionString, workFolder: "/tmp")
            #expect(try store.read { try $0.runs.last(limit: 1) }.isEmpty)
            try store.close()
            try database.connect().execute("DELETE FROM tributary_migration")
            let old = message { _ = try PostgresStore(readingAt: database.connectionString, workFolder: "/tmp") }
            #expect(old?.contains("those of an earlier Tributary") == true, "\(old ?? "")")
        }
    }

    @Test func aDatabaseOfAnotherEncodingIsRefused() async throws {
        try await withPostgresDatabase(encoding: "LATIN1") { (database) async throws in
            let error = message { _ = try database.openStore() }
            #expect(error?.contains("encoding is LATIN1") == true, "\(error ?? "")")
            #expect(error?.contains("WITH ENCODING 'UTF8'") == true)
        }
    }

    @Test func aDatabaseThatOnlyReadsIsRefusedButMayBeRead() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.openStore().close()
            try database.connect().execute("ALTER DATABASE \(database.name) SET default_transaction_read_only = on")
            let error = message { _ = try database.openStore() }
            #expect(error?.contains("default_transaction_read_only") == true, "\(error ?? "")")
            let store = try PostgresStore(readingAt: database.connectionString, workFolder: "/tmp")
            #expect(try store.read { try $0.sources.all() }.isEmpty)
            try store.close()
        }
    }

    @Test func aStandbyIsRefusedButMayBeRead() async throws {
        try await withPostgresServer { (server) async throws in
            let url = server.connectionString()
            try PostgresStore(url: url, workFolder: "/tmp").close()
            try server.stop()
            try "".write(toFile: "\(server.folder)/data/standby.signal", atomically: false, encoding: .utf8)
            try server.start()
            let error = message { _ = try PostgresStore(url: url, workFolder: "/tmp") }
            #expect(error?.contains("the server is a standby") == true, "\(error ?? "")")
            #expect(error?.contains("target_session_attrs=read-write") == true)
            let store = try PostgresStore(readingAt: url, workFolder: "/tmp")
            #expect(try store.read { try $0.sources.all() }.isEmpty)
            try store.close()
        }
    }

    @Test func noPasswordIsShown() async throws {
        var options = PostgresServer.Options()
        options.listensOnTCP = true
        try await withPostgresServer(options) { (server) async throws in
            let admin = try server.connect()
            try admin.execute("CREATE ROLE tributary LOGIN PASSWORD 'right one' IN ROLE needs_password")
            try admin.execute("CREATE DATABASE feeds OWNER tributary")
            func url(_ password: String) -> String {
                "postgresql://tributary:\(password)@127.0.0.1:\(server.port)/feeds?gssencmode=disable"
            }
            let wrong = message { _ = try PostgresStore(url: url("secret"), workFolder: "/tmp") }
            let address = "postgresql://tributary@127.0.0.1:\(server.port)/feeds"
            #expect(wrong?.hasPrefix("the store \(address) cannot be opened: ") == true, "\(wrong ?? "")")
            #expect(wrong?.contains("check the user and the password") == true)
            #expect(wrong?.contains("secret") == false)
            let store = try PostgresStore(url: url("right%20one"), workFolder: "/tmp")
            #expect(store.description == address)
            try server.stop()
            let away = message { _ = try store.read { try $0.sources.state(of: "s") } }
            #expect(away?.hasPrefix("the store \(address) cannot be read: ") == true, "\(away ?? "")")
            let opening = message { _ = try PostgresStore(url: url("right%20one"), workFolder: "/tmp") }
            #expect(opening?.contains("listens at this address") == true, "\(opening ?? "")")
            let writing = await message {
                try await store.writeInGroup { try $0.sources.recordPause(of: "s", error: "", note: "", now: .now) }
            }
            #expect(writing?.hasPrefix("the store \(address) cannot be written: ") == true, "\(writing ?? "")")
            for text in [away, opening, writing] { #expect(text?.contains("right") == false, "\(text ?? "")") }
            // The same store is of use again once the server is back.
            try server.start()
            #expect(try store.read { try $0.sources.state(of: "s") }.failures == 0)
            try store.close()
        }
    }
}
