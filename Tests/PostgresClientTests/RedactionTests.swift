import PostgresStore
import Testing

/// No part of a password is in any error, whatever way it is written in the connection string.
@Suite struct RedactionTests {
    /// Nothing listens at any of them.
    @Test(arguments: [
        "postgresql://user:Tr0ub4dor@127.0.0.1:1/db",
        "postgres://user:Tr0ub4dor@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor%26%263@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor@Horse@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor/Horse@127.0.0.1:1/db",
        "postgresql://user:1234/Tr0ub4dor@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor?Horse@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor#Horse@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor:Horse@127.0.0.1:1/db",
        "postgresql://user:12?3/Tr0ub4dor@127.0.0.1:1/db",
        "postgresql://user:[Tr0ub4dor@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor%@127.0.0.1:1/db",
        "postgresql://user:Tr0ub4dor%zz@127.0.0.1:1/db",
        "postgresql://127.0.0.1:1/db?password=Tr0ub4dor",
        "postgresql://127.0.0.1:1/db?password=x&Tr0ub4dor",
        "postgresql://127.0.0.1:1/db?password=x&Tr0ub4dor=1",
        "host=127.0.0.1 port=1 password=Tr0ub4dor",
        "host=127.0.0.1 port=1 password='Tr0ub4dor' user=me",
        "host=127.0.0.1 port=1 password=x Tr0ub4dor",
        "host=127.0.0.1 port=1 password=x Tr0ub4dor=y",
        "host=127.0.0.1 port=1 password='x Tr0ub4dor",
        "host=127.0.0.1 port=1 sslpassword=Tr0ub4dor",
        "password=Tr0ub4dor host=127.0.0.1 port=1 nonsense=1",
    ])
    func passwords(string: String) throws {
        let failure = postgresError { _ = try PostgresConnection(string) }
        let error = try #require(failure)
        #expect(error.kind == .connecting || error.kind == .configuration)
        for text in ["\(error)", String(reflecting: error)] {
            #expect(!text.contains("Tr0ub4dor"))
            #expect(!text.contains("Horse"))
        }
    }

    @Test func adviceOnBrokenPasswords() {
        let error = postgresError { _ = try PostgresConnection("postgresql://user:Tr0ub@dor@127.0.0.1:1/db") }
        #expect(error?.description.contains("@ as %40") == true)
    }

    /// All that is no password stays readable.
    @Test(arguments: [
        ("host=127.0.0.1 port=1 user=me dbname=feeds password=pass", "at 127.0.0.1:1, database 'feeds', user 'me'"),
        ("postgresql://me:pass@127.0.0.1:1/feeds", "at 127.0.0.1:1, database 'feeds', user 'me'"),
        ("postgresql://me@127.0.0.1:1/feeds?application_name=a@b:c", "at 127.0.0.1:1, database 'feeds', user 'me'"),
        (
            "postgresql://127.0.0.1:1/feeds?application_name=a@b:c&user=me",
            "at 127.0.0.1:1, database 'feeds', user 'me'"
        ),
        ("hots=x user=me", "invalid connection option \"hots\""),
        ("hots=x password=y", "invalid connection option \"hots\""),
        ("port=nine host=127.0.0.1 password=x", "\"nine\""),
        ("service=nowhere", "definition of service \"nowhere\" not found"),
    ])
    func addresses(string: String, shown: String) {
        let error = postgresError { _ = try PostgresConnection(string) }
        #expect(error?.description.contains(shown) == true, "\(error.debugDescription)")
    }
}
