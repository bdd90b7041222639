import PostgresStore
import PostgresServer
import Testing

@Suite(.enabled(if: PostgresServer.isAvailable)) struct TransactionTests {
    private struct GivenUp: Error {}

    @Test func commitsAndRollsBack() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            let value = try connection.inTransaction {
                #expect(connection.transactionStatus == .inTransaction)
                try connection.execute("INSERT INTO t VALUES (1)")
                return "kept"
            }
            #expect(value == "kept")
            #expect(connection.transactionStatus == .idle)
            expectThrows(GivenUp.self) {
                try connection.inTransaction {
                    try connection.execute("INSERT INTO t VALUES (2)")
                    throw GivenUp()
                }
            }
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT id FROM t") == ["1"])
        }
    }

    @Test(arguments: [
        (PostgresConnection.Isolation.readCommitted, "read committed"), (.repeatableRead, "repeatable read"),
    ])
    func isolation(isolation: PostgresConnection.Isolation, name: String) async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.inTransaction(isolation) {
                let current = try connection.strings("SHOW transaction_isolation")
                #expect(current == [name])
                expectError(.misuse) { try connection.inTransaction {} }
            }
        }
    }

    @Test func serializationFailures() async throws {
        try await withPostgresDatabase { database in
            let (first, second) = (try database.connect(), try database.connect())
            try first.executeScript("CREATE TABLE t (id int, n int); INSERT INTO t VALUES (1, 0)")
            let error = postgresError {
                try first.inTransaction(.repeatableRead) {
                    try first.execute("SELECT * FROM t")
                    try second.execute("UPDATE t SET n = n + 1")
                    try first.execute("UPDATE t SET n = n + 1")
                }
            }
            #expect(error?.state == .serializationFailure)
            #expect(error?.isRepeatable == true)
            #expect(error?.isTransient == true)
            #expect(first.transactionStatus == .idle)
        }
    }

    @Test func deadlocks() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let session = connection.backendPID
            try connection.executeScript("CREATE TABLE t (id int, n int); INSERT INTO t VALUES (1, 0), (2, 0)")
            var other: OtherThread?
            let error = postgresError {
                try connection.inTransaction {
                    // The one that waits longer than its `deadlock_timeout` first is the victim.
                    try connection.execute("SET LOCAL deadlock_timeout = '10ms'")
                    try connection.execute("UPDATE t SET n = 1 WHERE id = 1")
                    other = OtherThread {
                        let rival = try database.connect()
                        try rival.inTransaction {
                            try rival.execute("SET LOCAL deadlock_timeout = '60s'")
                            try rival.execute("UPDATE t SET n = 2 WHERE id = 2")
                            try rival.execute("UPDATE t SET n = 2 WHERE id = 1")
                        }
                    }
                    // Until the rival waits for this transaction.
                    let waiting =
                        "SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_blocking_pids(pid) = ARRAY[$1::int]"
                    let observer = try database.connect()
                    while try observer.strings(waiting, [.integer(Int64(session))]) != ["1"] {}
                    try connection.execute("UPDATE t SET n = 1 WHERE id = 2")
                }
            }
            try other?.join()
            #expect(error?.state == .deadlockDetected)
            #expect(error?.isRepeatable == true)
            #expect(try connection.strings("SELECT n FROM t ORDER BY id") == ["2", "2"])
        }
    }

    /// COMMIT itself reports no error then.
    @Test func swallowedErrors() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            let error = postgresError {
                try connection.inTransaction {
                    try connection.execute("INSERT INTO t VALUES (1)")
                    _ = try? connection.execute("SELECT nonsense")
                    #expect(connection.transactionStatus == .failed)
                    expectError(.statement, state: .inFailedTransaction) { try connection.execute("SELECT 1") }
                }
            }
            #expect(error?.state == .inFailedTransaction)
            #expect(error?.isRepeatable == false)
            #expect(connection.transactionStatus == .idle)
            #expect(try connection.strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    /// Found out by COMMIT.
    @Test func deferredConstraints() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int UNIQUE DEFERRABLE INITIALLY DEFERRED)")
            let error = postgresError {
                try connection.inTransaction { _ = try connection.execute("INSERT INTO t VALUES (1), (1)") }
            }
            #expect(error?.state == .uniqueViolation)
            #expect(error?.isCommitUnknown == false)
            #expect(connection.transactionStatus == .idle)
        }
    }

    @Test func savepoints() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int PRIMARY KEY)")
            try connection.inTransaction {
                try connection.execute("INSERT INTO t VALUES (1)")
                try connection.inSavepoint {
                    try connection.execute("INSERT INTO t VALUES (2)")
                    let error = postgresError {
                        try connection.inSavepoint {
                            try connection.execute("INSERT INTO t VALUES (3)")
                            try connection.execute("INSERT INTO t VALUES (1)")
                        }
                    }
                    #expect(error?.state == .uniqueViolation)
                    #expect(connection.transactionStatus == .inTransaction)
                }
                expectThrows(GivenUp.self) {
                    try connection.inSavepoint {
                        try connection.execute("INSERT INTO t VALUES (4)")
                        throw GivenUp()
                    }
                }
                let value = try connection.inSavepoint { "value" }
                #expect(value == "value")
            }
            #expect(try connection.strings("SELECT id FROM t ORDER BY id") == ["1", "2"])
        }
    }

    @Test func connectionLostBeforeCommit() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.execute("CREATE TABLE t (id int)")
            let session = connection.backendPID
            let error = postgresError {
                try connection.inTransaction {
                    try connection.execute("INSERT INTO t VALUES (1)")
                    try database.terminate(session)
                    try connection.execute("INSERT INTO t VALUES (2)")
                }
            }
            #expect(error?.isConnectionLost == true)
            #expect(error?.isCommitUnknown == false)
            #expect(error?.isRepeatable == true)
            #expect(try database.connect().strings("SELECT count(*) FROM t") == ["0"])
        }
    }

    /// The session is busy with the COMMIT for ever.
    @Test func aCommitIsNotWaitedForWithoutEnd() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.executeScript(
                """
                CREATE TABLE t (id int);
                CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM pg_sleep(3600); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER wait AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION wait();
                """)
            connection.commitLimit = .milliseconds(50)
            let session = connection.backendPID
            let error = postgresError {
                try connection.inTransaction { _ = try connection.execute("INSERT INTO t VALUES (1)") }
            }
            #expect(error?.isCommitUnknown == true && error?.isConnectionLost == true, "\(error.debugDescription)")
            #expect(!connection.isOpen)
            try database.terminate(session)
        }
    }

    /// The session ends itself while it commits.
    @Test func connectionLostInCommit() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            try connection.executeScript(
                """
                CREATE TABLE t (id int);
                CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS
                    $$ BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); PERFORM pg_sleep(60); RETURN NULL; END $$;
                CREATE CONSTRAINT TRIGGER die AFTER INSERT ON t DEFERRABLE INITIALLY DEFERRED
                    FOR EACH ROW EXECUTE FUNCTION die();
                """)
            let error = postgresError {
                try connection.inTransaction { _ = try connection.execute("INSERT INTO t VALUES (1)") }
            }
            #expect(error?.isConnectionLost == true)
            #expect(error?.isCommitUnknown == true)
            #expect(error?.isRepeatable == false)
            #expect(error?.description.contains("not known whether the transaction was committed") == true)
        }
    }
}
