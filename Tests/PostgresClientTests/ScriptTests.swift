import PostgresServer
import Testing

@testable import PostgresStore

@Suite(.enabled(if: PostgresServer.isAvailable)) struct ScriptTests {
    @Test func manyStatements() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let last = try connection.executeScript(
                """
                -- A schema; with its comment
                CREATE TABLE a (id int);
                CREATE FUNCTION f() RETURNS int LANGUAGE plpgsql AS $body$ BEGIN RETURN 1; END $body$;
                INSERT INTO a VALUES (1), (2);
                SELECT count(*) FROM a;
                """)
            #expect(last.first?.string(0) == "2")
            #expect(try connection.executeScript("").count == 0)
            #expect(try connection.executeScript(" ; -- nothing").count == 0)
        }
    }

    /// One transaction: what came before the error is undone.
    @Test func errors() async throws {
        try await withPostgresDatabase { database in
            let connection = try database.connect()
            let mistakes: [(script: String, line: Int, state: SQLState)] = [
                ("CREATE TABLE a (id int);\nCREATE TABEL b (id int);\n", 2, .syntaxError),
                ("SELECT '日本語 👩‍👩‍👧',\n 'é';\nSELECT 1,\n\n  nonsense;", 5, .undefinedColumn),
                ("SELECT 1;\n/* a;\n b; */\n\nSELECT\n 1 / 0;\nSELECT 2", 5, SQLState(rawValue: "22012")),
                (
                    "CREATE TABLE a (id int UNIQUE);;\n;INSERT INTO a VALUES (1);\nINSERT INTO a VALUES (1);", 3,
                    .uniqueViolation
                ),
                ("\r\n\r\nSELECT 'a\n;b';\r\nDROP TABLE nowhere", 5, .undefinedTable),
            ]
            for mistake in mistakes {
                let error = postgresError { try connection.executeScript(mistake.script) }
                #expect(error?.line == mistake.line, "\(mistake.script)")
                #expect(error?.state == mistake.state)
                #expect(error?.description.contains("line \(mistake.line): ") == true)
                #expect(connection.transactionStatus == .idle)
                #expect(try connection.strings("SELECT to_regclass('a')") == [nil])
            }
            let later = postgresError { try connection.executeScript("SELECT 1;\nSELEC", line: 40) }
            #expect(later?.line == 41)
        }
    }

    @Test(arguments: [
        ("", []),
        (";;\n;", []),
        ("a; b\n; c", [1, 1, 2]),
        ("-- x;\n\na", [3]),
        ("/* ; /* ; */ ; */ a;\nb", [1, 2]),
        ("a 'x;\ny' b;\nc", [1, 3]),
        ("a 'it''s;' ; b", [1, 1]),
        ("a E'it\\'s;' ; b", [1, 1]),
        ("a 'it\\' ; b", [1, 1]),
        ("a \"x;y\" ; b", [1, 1]),
        ("a $$x;\n$ $x$$;\nb", [1, 3]),
        ("a $x$ ; $$ ; $x$;\nb", [1, 2]),
        ("a $1; b", [1, 1]),
        ("a$b$; c $b$;$b$", [1, 1]),
        ("CREATE RULE r AS ON INSERT TO t DO (a; b);\nc", [1, 2]),
        ("CREATE FUNCTION f() BEGIN ATOMIC\nSELECT CASE WHEN a THEN b END;\nSELECT 1; END;\nc", [1, 4]),
        ("BEGIN; SELECT CASE WHEN a THEN b END; COMMIT;\nc", [1, 1, 1, 2]),
        ("select é; \"é;\" b", [1, 1]),
    ])
    func statementLines(script: String, lines: [Int]) {
        #expect(SQLScript.statementLines(script) == lines)
    }
}
