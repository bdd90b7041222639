import Foundation
import PostgresStore
import Synchronization
import TestSupport
import Testing

/// Serves two documents for each of some sources. All rows of both hold the number of the source's run, so that half a
/// stack is told from a whole one.
final class StackOrigin: Sendable {
    static let sources = (0..<6).map { "s\($0)" }
    private static let rowCount = 40

    private let url: String
    private let versions = Mutex<[String: Int]>([:])
    private let hook = Mutex<(@Sendable () -> Void)?>(nil)

    init(_ server: StubServer) {
        url = server.url
        for source in Self.sources {
            server.route("/first-\(source)") { [self] _ in
                Self.document(
                    versions.withLock { versions in
                        versions[source, default: 0] += 1
                        return versions[source] ?? 0
                    })
            }
            server.route("/second-\(source)") { [self] _ in
                hook.withLock { $0.take() }?()
                return Self.document(versions.withLock { $0[source] ?? 0 })
            }
        }
    }

    /// Calls a body once, before the last answer of some run.
    func beforeNextCommit(_ body: @escaping @Sendable () -> Void) { hook.withLock { $0 = body } }

    private static func document(_ version: Int) -> [StubServer.Step] {
        let entries = (0..<rowCount).map { "<e id='\($0)' v='\(version)'/>" }.joined()
        return StubServer.response(200, "<es>\(entries)</es>")
    }

    /// The program with all sources, each due every second.
    ///
    /// - Parameter url: the store's.
    func program(url: String, in folder: TemporaryFolder, _ name: String) throws -> BuiltProgram {
        let sources = Self.sources.flatMap { source in
            ["first", "second"].map { table in
                """
                [[sources.\(source).requests]]
                url = "\(self.url)/\(table)-\(source)"
                scope = { source = "\(source)" }
                tables = [{ table = "\(table)", element = "e", key = ["source", "id"], sync = "mirror", \
                columns = { source = { value = "\(source)" }, id = "@id", v = "@v" } }]

                """
            }
        }
        let text = """
            [store]
            url = "\(url)"
            [daemon]
            concurrency = 6
            per_host = 6
            [defaults]
            cache = "1s"

            \(sources.joined())
            """
        return BuiltProgram("tributary", config: try folder.write(text, to: name))
    }

    static func rows(_ connection: PostgresConnection, _ sql: String) throws -> [String] {
        try connection.execute(sql).map { row in
            (0..<row.columnCount).map { row.string($0) ?? "NULL" }.joined(separator: "|")
        }
    }

    /// Expects every stack whole, each run recorded once, and a log that says of commits what is so.
    func expectWhole(_ store: PostgresConnection, log: String) throws {
        let stacks = try Self.rows(
            store,
            """
            SELECT source, count(*), count(DISTINCT v) FROM (SELECT * FROM first UNION ALL SELECT * FROM second) e
            GROUP BY source ORDER BY source
            """)
        #expect(stacks == Self.sources.map { "\($0)|\(2 * Self.rowCount)|1" })
        let twice = try Self.rows(
            store, "SELECT source, started_at FROM tributary_run GROUP BY source, started_at HAVING count(*) > 1")
        #expect(twice.isEmpty)
        // Each run met a version of its own, and so has changed every row once.
        let incomplete = try Self.rows(
            store,
            """
            SELECT r.id, count(c.id) FROM tributary_run r FULL JOIN tributary_change c ON c.run = r.id
            WHERE r.outcome IS NULL OR r.outcome = 'committed' GROUP BY r.id HAVING count(c.id) <> \(2 * Self.rowCount)
            """)
        #expect(incomplete.isEmpty)
        // What the daemon has said of its commits is true.
        for source in Self.sources {
            let said = log.components(separatedBy: "\(source): committed:").count - 1
            let recorded = try Self.rows(
                store, "SELECT count(*) FROM tributary_run WHERE source = '\(source)' AND outcome = 'committed'")
            #expect(recorded == ["\(said)"], "\(log)")
        }
    }
}
