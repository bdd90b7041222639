import PostgresStore
import PostgresServer
import Testing

/// Statements that are sent in one flight.
@Suite(.enabled(if: PostgresServer.isAvailable)) struct PipelineTests {
    private func statement(_ sql: String, _ parameters: PostgresValue?...) -> PostgresStatement {
        PostgresStatement(sql, parameters, isPrepared: true)
    }

    private func preparedCount(_ connection: PostgresConnection) throws -> Int? {
        try connection.execute("SELECT count(*) FROM pg_prepared_statements")[0].int(0)
    }

    @Test func everyStatementHasItsResult() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let results = try connection.pipeline([
                PostgresStatement("CREATE TABLE t (id int, name text)"),
                statement(
                    "INSERT INTO t SELECT * FROM unnest($1::int[], $2::text[])", try list(["1", "2"]),
                    try list(["a", nil])),
                PostgresStatement("SELECT id, name FROM t WHERE id > $1 ORDER BY id", [.integer(0)]),
                statement("SELECT $1::bytea", .bytes([0, 255])),
            ]).results()
            #expect(results.map(\.count) == [0, 0, 2, 1])
            #expect(results[1].affectedRows == 2)
            #expect(results[2].map { $0.string(1) } == ["a", nil])
            #expect(try results[3][0].bytes(0) == [0, 255])
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.pipeline([]).isEmpty)
            #expect(try connection.strings("SELECT id FROM t") == ["1", "2"])
        }
    }

    private func list(_ elements: [String?]) throws -> PostgresValue { .array(try PostgresTextArray(elements)) }

    /// libpq would give its rows one by one, as those before them.
    @Test func theFirstStatementAfterAStreamHasItsRows() async throws {
        try await withPostgresDatabase { (database) async throws in
            let connection = try database.connect()
            let statement = PostgresStatement("SELECT n FROM generate_series(1, 3) n", isPrepared: true)
            _ = try connection.execute([statement])
            try connection.forEachRow(of: "SELECT 7") { _ in .next }
            let results = try connection.execute([statement, PostgresStatement("SELECT 8")])
            #expect(results[0].map { $0.string(0) } == ["1", "2", "3"])
            #expect(results[1].map { $0.string(0) } == ["8"])
        }
    }

    @Test func whatFollowsAnErrorIsSkipped() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
            let outcomes = try connection.pipeline([
                statement("INSERT INTO t VALUES ($1)", 1), statement("INSERT INTO t VALUES ($1)", 1),
                statement("INSERT INTO t VALUES ($1)", 2), statement("SELECT no_such_column FROM t"),
            ])
            guard outcomes.count == 4, case .result = outcomes[0], case .failure(let error) = outcomes[1],
                case .skipped = outcomes[2], case .skipped = outcomes[3]
            else {
                Issue.record("\(outcomes)")
                return
            }
            #expect(error.state == .uniqueViolation)
            #expect(postgresError { _ = try outcomes.results() } == error)
            // They were one transaction.
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT id FROM t").isEmpty)
            // What was prepared before the error is kept, what was skipped is prepared anew.
            #expect(try connection.pipeline([statement("INSERT INTO t VALUES ($1)", 3)]).results().count == 1)
            #expect(try preparedCount(connection) == 1)
        }
    }

    @Test func aTransactionOfTwoFlights() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
            _ = try connection.pipeline([PostgresStatement("BEGIN"), statement("INSERT INTO t VALUES ($1)", 1)])
                .results()
            #expect(connection.transactionStatus == .inTransaction)
            let results = try connection.commit(after: [statement("SELECT count(*) FROM t")])
            #expect(try results[0][0].int(0) == 1)
            #expect(connection.transactionStatus == .idle)

            _ = try connection.pipeline([PostgresStatement("BEGIN"), statement("INSERT INTO t VALUES ($1)", 2)])
                .results()
            expectError(.statement, state: .uniqueViolation) {
                try connection.commit(after: [statement("INSERT INTO t VALUES ($1)", 2)])
            }
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT id FROM t") == ["1"])
        }
    }

    @Test func anUnansweredCommitIsUnknown() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            _ = try connection.pipeline([PostgresStatement("BEGIN")]).results()
            let error = postgresError {
                try connection.commit(after: [PostgresStatement("SELECT pg_terminate_backend(\(session))")])
            }
            #expect(error?.isCommitUnknown == true)
            #expect(!connection.isOpen)
        }
    }

    @Test func statementsArePreparedOnce() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            for number in 1...3 {
                let sum = statement("SELECT $1::int + 1", .integer(Int64(number)))
                let results = try connection.pipeline([sum, sum]).results()
                #expect(try results.map { try $0[0].int(0) } == [number + 1, number + 1])
                #expect(try preparedCount(connection) == 1)
            }
        }
    }

    @Test func noMoreThanSomeAreKept() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let statements = (1...150).map { statement("SELECT \($0)") }
            #expect(try connection.pipeline(statements).results().count == 150)
            #expect(try preparedCount(connection) == 100)
            // Room is made between transactions only.
            try connection.inTransaction {
                _ = try connection.pipeline([statement("SELECT 'new'")]).results()
                #expect(try preparedCount(connection) == 100)
            }
            _ = try connection.pipeline([statement("SELECT 'new'")]).results()
            #expect(try preparedCount(connection) == 1)
        }
    }

    /// As those are whose results have other columns since, and those that a pooler's other session does not know.
    @Test func statementsThatAreNoLongerValidAreForgotten() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            let all = statement("SELECT * FROM t")
            _ = try connection.pipeline([all]).results()
            try connection.execute("ALTER TABLE t ADD COLUMN name text")
            expectError(.statement, state: .featureNotSupported) { _ = try connection.pipeline([all]).results() }
            #expect(try connection.pipeline([all]).results()[0].columnCount == 2)

            try connection.execute("DEALLOCATE ALL")
            expectError(.statement, state: SQLState(rawValue: "26000")) {
                _ = try connection.pipeline([all]).results()
            }
            #expect(try connection.pipeline([all]).results()[0].columnCount == 2)
            #expect(try preparedCount(connection) == 0)
        }
    }

    /// More than any buffer between the two holds, in both directions.
    @Test func largeParametersAndResults() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let text = String(repeating: "x", count: 4 << 20)
            let results = try connection.pipeline((0..<4).map { _ in statement("SELECT $1::text", .text(text)) })
                .results()
            #expect(results.allSatisfy { $0[0].string(0)?.utf8.count == text.utf8.count })
        }
    }

    @Test func aParameterThatCannotBeSentLeavesTheConnectionAsItWas() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            expectError(.value) {
                _ = try connection.pipeline([PostgresStatement("SELECT 1"), statement("SELECT $1::text", "a\u{0}")])
            }
            #expect(try connection.strings("SELECT 1") == ["1"])
        }
    }
}
