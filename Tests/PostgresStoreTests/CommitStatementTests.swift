import FeedModel
import Foundation
@testable import FeedStores
@testable import PostgresStore
import PostgresServer
import Testing

@testable import FeedStaging

/// The statements that a small commit sends, as the server's log has them.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct CommitStatementTests {
    private let schema = """
        CREATE TABLE shop (id text PRIMARY KEY);
        CREATE TABLE item (id text PRIMARY KEY, shop text REFERENCES shop ON DELETE CASCADE, price numeric(10,2));
        CREATE TABLE picture (id text PRIMARY KEY, item text REFERENCES item ON DELETE CASCADE);
        """

    private func merge(_ store: PostgresStore, price: String) throws -> MergeCounts {
        try store.renewTableInfos(of: nil)
        let context = WorkerContext(store: store, source: "s")
        defer { context.remove() }
        context.beginRequest(0, rule: MergeRule(sync: .mirror))
        try context.insert(into: "shop", ["id": "n"])
        for id in 1...3 { try context.insert(into: "item", ["id": "\(id)", "shop": "n", "price": price]) }
        let mirrors = ["shop", "item"].map { MirroredRows(table: $0, scope: [:]) }
        let requests = ["1", "2"].map { request($0, etag: price, tables: ["shop", "item"]) }
        return try store.merge(
            context.finish(), with: .of("s", requests, outcome: .committed, mirrors: mirrors)
        ).counts
    }

    @Test func aTableThatIsUnchangedCostsOneQuestionToTheCatalog() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("ALTER DATABASE \(database.name) SET log_statement = 'all'")
            let store = try database.openStore(schema: schema)
            #expect(try merge(store, price: "1").inserted == 4)
            #expect(try merge(store, price: "2").updated == 3)
            let before = database.loggedStatements.count
            #expect(try merge(store, price: "3").updated == 3)
            let all = database.loggedStatements[before...]
            // The run begins with a question of its own.
            let begin = try #require(all.firstIndex { $0.contains("BEGIN") })
            let commit = all[begin...]
            let questions = commit.filter { $0.contains("FROM pg_catalog.") }
            #expect(questions.count == 1, "\(questions)")
            #expect(commit.count <= 38, "\(commit.count):\n\(commit.joined(separator: "\n"))")
            try store.close()
        }
    }

    /// Wherever the same table is declared.
    @Test func declaredTablesThatAreThereCostOneQuestion() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("ALTER DATABASE \(database.name) SET log_statement = 'all'")
            let store = try database.openStore(schema: schema)
            func prepare(_ place: String) throws {
                try store.prepareTables([
                    TableSchema(
                        name: "shop", columns: [TableSchema.Column(name: "id", type: "TEXT")], key: ["id"],
                        place: KeyPlace(path: place))
                ])
            }
            let before = database.loggedStatements.count
            try prepare("first")
            try prepare("second")
            let questions = database.loggedStatements[before...].filter { $0.contains("FROM pg_catalog.") }
            #expect(questions.count == 1, "\(questions)")
            try store.close()
        }
    }

    /// What a run has seen of its tables at its beginning holds for its first body.
    @Test func aRunAsksForItsTablesOnce() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("ALTER DATABASE \(database.name) SET log_statement = 'all'")
            let store = try database.openStore(schema: schema)
            _ = try merge(store, price: "1")
            func questions(_ body: () throws -> Void) rethrows -> Int {
                let before = database.loggedStatements.count
                try body()
                return database.loggedStatements[before...].count { $0.contains("FROM pg_catalog.") }
            }
            #expect(try questions { _ = try store.states(of: "s") } == 1)
            #expect(try questions { try store.renewTableInfos(of: ["item"], within: .seconds(60)) } == 0)
            #expect(try questions { try store.renewTableInfos(of: ["item"]) } == 1)
            try store.close()
        }
    }

    /// Runs that begin together read a description once.
    @Test func aTableIsDescribedForAllWhoAsk() async throws {
        try await withPostgresDatabase { (database) async throws in
            try database.connect().execute("ALTER DATABASE \(database.name) SET log_statement = 'all'")
            let store = try database.openStore(schema: schema)
            let before = database.loggedStatements.count
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 { group.addTask { try await onThread { _ = try store.tableInfo("item") } } }
                try await group.waitForAll()
            }
            let questions = database.loggedStatements[before...].filter { $0.contains("json_build_object") }
            #expect(questions.count == 1, "\(questions.count)")
            try store.close()
        }
    }

    /// Planning the question takes the server longer than to answer it.
    @Test func theStateOfKnownTablesIsAskedForByOnePlan() async throws {
        try await withPostgresDatabase { (database) async throws in
            let store = try database.openStore(schema: schema, connections: 1)
            for _ in 0..<4 { _ = try store.missingTables(among: ["shop", "item"]) }
            let plans = try store.connections.withConnection(.work) { connection in
                try connection.execute(
                    """
                    SELECT generic_plans > 1, custom_plans FROM pg_prepared_statements
                    WHERE statement LIKE '%hashtextextended%'
                    """
                ).map { "\($0.string(0) ?? "") \($0.string(1) ?? "")" }
            }
            #expect(plans == ["t 0"])
            try store.close()
        }
    }

    @Test func aChangeWhileTheCommitWaitsIsSeen() async throws {
        try await MergeFixture.with("CREATE TABLE a (id integer PRIMARY KEY, name text)") { (fixture) async throws in
            try fixture.commit { try $0.insert(into: "a", ["id": 1, "name": "x"]) }
            // The child is new to the cache when the parent is deleted.
            try fixture.execute(
                """
                CREATE TABLE b (id integer PRIMARY KEY, a integer REFERENCES a ON DELETE CASCADE);
                INSERT INTO b VALUES (7, 1)
                """)
            let counts = try fixture.commit(MergeRule(sync: .mirror)) {
                try $0.insert(into: "a", ["id": 2, "name": "y"])
            }
            #expect(counts.deleted == 2)
            #expect(try fixture.changes() == ["a|1|delete", "a|2|insert", "b|7|delete"])
        }
    }
}

extension TestDatabase {
    /// The statements that sessions of the database have sent since their log began.
    fileprivate var loggedStatements: [String] {
        var statements: [String] = []
        for line in server.log.split(separator: "\n") {
            if line.hasPrefix("\t") {
                if !statements.isEmpty { statements[statements.count - 1] += "\n" + line }
            } else if let start = line.range(of: "] \(name) LOG:  ") {
                statements.append(String(line[start.upperBound...]))
            } else if !statements.isEmpty, statements.last != "" {
                // Another database's lines, or details: what follows with a tab is not this statement's.
                statements.append("")
            }
        }
        return statements.filter { $0.hasPrefix("statement: ") || $0.hasPrefix("execute ") }
    }
}
