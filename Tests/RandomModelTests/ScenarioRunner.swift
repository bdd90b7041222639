@testable import FeedConfiguration
import FeedModel
import Foundation
import Logging
import TestSupport
@testable import FeedFetching
@testable import FeedParsing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore
@testable import TributaryEngine

/// Plays a scenario over a real server and a real store, and compares the store with a ``PlainStore`` after each run.
final class ScenarioRunner {
    /// What is not as it must be, at which step.
    struct Failure: Error, CustomStringConvertible {
        var step: Int
        var message: String
        var description: String { "after step \(step + 1): \(message)" }
    }

    /// What the server answers for a feed.
    private struct Published: Sendable {
        var feed: ModelScenario.Feed
        var version = 1
        var fault = ModelScenario.Fault.none
    }

    /// What it answers now; its threads read it.
    private final class Answers: Sendable {
        let current: Mutex<[Published]>
        /// Counts requests down to one that ends the program.
        let fuse = Mutex<(requests: Int, action: @Sendable () -> Void)?>(nil)

        func noteRequest() {
            let action: (@Sendable () -> Void)? = fuse.withLock { fuse in
                fuse?.requests -= 1
                return fuse?.requests == 0 ? fuse?.action : nil
            }
            action?()
        }

        init(_ feeds: [ModelScenario.Feed]) { current = Mutex(feeds.map { Published(feed: $0) }) }
    }

    private let server: StubServer
    private let folder: TemporaryFolder
    private let scenario: ModelScenario
    private let features: ModelFeatures
    /// The built program, for what is killed.
    private let program: String
    private let clock = ManualClock()
    private let answers: Answers
    private var sources: [[ModelScenario.Request]]
    private var engines: [RunEnvironment] = []

    private var model: PlainStore
    /// The keys that the changelog says each table has.
    private var changelog: [ModelTable: Set<String>] = [:]
    /// What the validators that were ever stored stand for.
    private var versions: [StoreContents.Version: PlainStore.Parsed] = [:]
    /// The polls that the rows of runs have counted so far, by number.
    private var polls: [Int64: Int] = [:]
    /// The last run that has been looked at.
    private var last: Int64 = 0
    private var step = 0
    private var kills = 0

    private init(
        _ scenario: ModelScenario, _ server: StubServer, _ folder: TemporaryFolder, program: String
    ) throws {
        self.scenario = scenario
        features = scenario.features
        self.program = program
        self.server = server
        self.folder = folder
        sources = scenario.sources
        model = PlainStore(action: scenario.action)
        answers = Answers(scenario.feeds)
    }

    /// - Returns: how often the program was killed.
    /// - Throws: ``Failure`` where the store is not what the model says.
    @discardableResult
    static func play(_ scenario: ModelScenario, program: String = "") async throws -> Int {
        try await withStubServer { server in
            try await withTemporaryFolder { (folder) async throws in
                let runner = try ScenarioRunner(scenario, server, folder, program: program)
                try await runner.play()
                return runner.kills
            }
        }
    }

    private func play() async throws {
        try folder.write(ModelTable.schema(action: scenario.action), to: "schema.sql")
        for index in scenario.feeds.indices { route(index) }
        for _ in 0..<2 { engines.append(try makeEngine()) }
        let result = await Result { () async throws in
            for (index, next) in scenario.steps.enumerated() {
                step = index
                try await perform(next)
            }
        }
        for engine in engines {
            try await engine.http.shutdown()
            try engine.store.close()
        }
        try result.get()
    }

    private func makeEngine() throws -> RunEnvironment {
        let configuration = try configuration()
        var environment = RunEnvironment(
            configuration: configuration,
            store: try SQLiteStore(path: configuration.localPath, schema: try configuration.schema()),
            registry: ParserRegistry([]), http: HTTPFetcher(now: { [clock] in clock.now() }),
            hosts: HostGate(limit: 4), slots: Slots(limit: 4), clock: clock,
            logger: Logger(label: "model") { _ in SwiftLogNoOpLogHandler() },
            executor: EngineExecutor(SystemThreads()))
        // The program is killed more often than a source may be the cause of.
        environment.runsPaused = true
        return environment
    }

    private func configuration() throws -> TributaryConfiguration {
        let text =
            "[store]\npath = \"store.sqlite\"\nschema = \"schema.sql\"\n"
            + ModelScenario.toml(sources, url: server.url)
        return try TributaryConfiguration(
            file: folder.write(text, to: "sources.toml"), parsers: ParserRegistry([]), environment: [:])
    }

    private func route(_ index: Int) {
        server.route("/f\(index)") { [answers] request in
            answers.noteRequest()
            let now = answers.current.withLock { $0[index] }
            let tag = "\"f\(index)-\(now.version)\""
            let body = ModelScenario.document(now.feed.rows)
            switch now.fault {
            case .refused: return StubServer.response(500, "")
            case .malformed: return StubServer.response(200, body.dropLast(7) + "</row", ["ETag": "\"broken\""])
            case .truncated:
                let head = StubServer.head(200, ["Content-Length": "\(body.utf8.count + 1)", "ETag": "\"cut\""])
                return [head, .send(Array(body.utf8)), .close]
            case .none:
                guard now.feed.hasTag else { return StubServer.response(200, body) }
                if request.headers["if-none-match"] == tag { return [StubServer.head(304, ["ETag": tag])] }
                return StubServer.response(200, body, ["ETag": tag])
            }
        }
    }

    // MARK: - Steps

    private func perform(_ next: ModelScenario.Step) async throws {
        switch next {
        case .publish(let feed, let rows):
            answers.current.withLock { published in
                guard published[feed].feed.rows != rows else { return }
                published[feed].feed.rows = rows
                published[feed].version += 1
            }
        case .fault(let feed, let fault):
            answers.current.withLock { $0[feed].fault = fault }
        case .jump(let seconds):
            clock.advance(by: seconds)
        case .declare(let source, let requests):
            sources[source] = requests
            let configuration = try configuration()
            for index in engines.indices { engines[index].configuration = configuration }
        case .run(let source, let engine, let mode):
            let mode: RefreshMode = mode == "due" ? .whenDue : mode == "full" ? .full : .force
            try check([await run(source, engine, mode)])
        case .runBoth(let first, let second):
            let (former, latter) = (try stackRun(first, 0, .force), try stackRun(second, 1, .force))
            async let one = former.run()
            async let other = latter.run()
            try check([await one, await other])
        case .kill(let source, let request, let microseconds):
            try await kill(source, request: request, microseconds: microseconds)
        }
    }

    /// Starts the program, and kills it. No more than one run is recorded, or none.
    private func kill(_ source: Int, request: Int, microseconds: UInt32) async throws {
        let command = [
            "--config", folder.file("sources.toml"), "sync", ModelScenario.name(ofSource: source), "--force",
        ]
        let victim = Victim()
        answers.fuse.withLock { $0 = (request, { victim.kill(after: microseconds) }) }
        let status = try await victim.run(program, command)
        answers.fuse.withLock { $0 = nil }
        if status == -SIGKILL { kills += 1 }
        guard [0, 1, -SIGKILL].contains(status) else { throw failure("the program ends with \(status)") }
        try check(try contents(), expected: nil)
    }

    private func run(_ source: Int, _ engine: Int, _ mode: RefreshMode) async throws -> RunReport {
        try await stackRun(source, engine, mode).run()
    }

    private func stackRun(_ source: Int, _ engine: Int, _ mode: RefreshMode) throws -> StackRun {
        let environment = engines[engine]
        guard let declaration = environment.configuration[source: ModelScenario.name(ofSource: source)] else {
            throw failure("there is no source s\(source)")
        }
        return StackRun(declaration, in: environment, mode: mode)
    }

    private func failure(_ message: String) -> Failure { Failure(step: step, message: message) }

    // MARK: - What must hold

    private func contents() throws -> StoreContents {
        try StoreContents(path: folder.file("store.sqlite"), after: last, known: polls, checksIntegrity: step % 5 == 0)
    }

    private func check(_ reports: [RunReport]) throws {
        for report in reports where report.outcome == .notDue {
            guard let due = report.nextDue, due <= clock.now() + 7200 else {
                throw failure("\(report.source) waits until \(String(describing: report.nextDue)), now \(clock.now())")
            }
        }
        try check(try contents(), expected: reports.filter { $0.outcome != .notDue })
    }

    /// - Parameter reports: of the runs that must be recorded; nil where the program has been killed.
    private func check(_ contents: StoreContents, expected reports: [RunReport]?) throws {
        guard contents.integrity.isEmpty else { throw failure("integrity: \(contents.integrity)") }
        let recorded = contents.runs.map { $0.source + " " + $0.outcome.rawValue }.sorted()
        if let expected = reports?.map({ $0.source + " " + $0.outcome.rawValue }).sorted(), expected != recorded {
            throw failure("what ended as \(expected) is recorded as \(recorded)")
        }
        // In the order of their commits. A run that was discarded is recorded after what it met, perhaps behind another's commit.
        let before = model
        for run in contents.runs { try apply(run, before: before) }
        try compare(contents)
        try replay(contents)
        try note(contents)
        last = max(last, contents.runs.last?.id ?? last)
        polls.merge(contents.polls) { $1 }
    }

    /// What the run has done to the model, and whether it should have ended so.
    private func apply(_ run: StoreContents.Run, before: PlainStore) throws {
        guard let index = sources.indices.first(where: { ModelScenario.name(ofSource: $0) == run.source }) else {
            return
        }
        let requests = sources[index]
        let answers = self.answers.current.withLock { $0 }
        let isBroken = requests.contains { answers[$0.feed].fault != .none }
        let parsed = requests.filter { run.requests[$0.key] == "parsed" }
            .map { PlainStore.Parsed(request: $0, rows: answers[$0.feed].feed.rows) }
        let isEmptied = requests.contains { request in
            !request.allowsEmpty && answers[request.feed].feed.rows.isEmpty && run.requests[request.key] != "unchanged"
        }
        switch run.outcome {
        case .discarded, .blocked:
            if isBroken || isEmptied { return }
            guard model.merging(parsed) == nil || before.merging(parsed) == nil else {
                throw failure("\(run.source) is discarded for no reason: \(run.error ?? "")")
            }
        case .committed, .unchanged:
            if isBroken || isEmptied {
                throw failure("\(run.source) is \(run.outcome) though a feed is broken or empty")
            }
            guard let merged = model.merging(parsed) else {
                throw failure("\(run.source) is \(run.outcome) though a constraint forbids it")
            }
            model = merged
        case .notDue, .cancelled:
            throw failure("\(run.source) is recorded as \(run.outcome)")
        }
    }

    private func compare(_ contents: StoreContents) throws {
        for table in ModelTable.allCases {
            // Keys stay as they were first written, and are compared as the column does.
            func lines(_ rows: [ModelRow]) -> [String] {
                rows.map { row in
                    table.columns.map { column in
                        let value = row[column] ?? nil
                        return (column == table.key ? table.comparable(column, value) : value) ?? "NULL"
                    }.joined(separator: "|")
                }.sorted()
            }
            let (expected, found) = (lines(model[table]), lines(contents.tables[table] ?? []))
            guard expected == found else {
                throw failure(
                    "table \(table) lacks \(found.missing(from: expected)) and has besides \(expected.missing(from: found))"
                )
            }
        }
    }

    /// The changelog, replayed, gives the rows that there are; and each run's counts are its entries.
    private func replay(_ contents: StoreContents) throws {
        for change in contents.changes {
            guard let table = ModelTable(rawValue: change.table) else {
                throw failure("the changelog names a table '\(change.table)'")
            }
            let key = changelogKey(change.key, table)
            let isThere = changelog[table]?.contains(key) ?? false
            guard isThere == (change.operation != "insert") else {
                throw failure(
                    "the changelog says \(change.operation) of \(table) \(change.key), which is \(isThere ? "" : "not ")there"
                )
            }
            switch change.operation {
            case "insert": changelog[table, default: []].insert(key)
            case "delete": changelog[table]?.remove(key)
            default: break
            }
        }
        for table in ModelTable.allCases {
            let keys = Set((contents.keys[table] ?? []).map { changelogKey($0, table) })
            let replayed = changelog[table] ?? []
            guard keys == replayed else {
                throw failure(
                    "the changelog of \(table) lacks \(keys.subtracting(replayed).sorted()) "
                        + "and has besides \(replayed.subtracting(keys).sorted())")
            }
        }
    }

    private func changelogKey(_ key: String, _ table: ModelTable) -> String {
        guard let column = table.key, !features.contains(.exactChangelogKeys) else { return key }
        return table.comparable(column, key) ?? key
    }

    /// Validators are stored only with the rows they stand for.
    private func note(_ contents: StoreContents) throws {
        let answers = self.answers.current.withLock { $0 }
        for version in contents.versions {
            if let index = sources.indices.first(where: { ModelScenario.name(ofSource: $0) == version.source }),
                let request = sources[index].first(where: { $0.key == version.request }),
                contents.runs.contains(where: { $0.source == version.source && $0.outcome.isGood })
            {
                let answer = answers[request.feed]
                let rows = PlainStore.Parsed(request: request, rows: answer.feed.rows)
                if !answer.feed.hasTag {
                    versions[version] = rows
                } else if version.validator == "\"f\(request.feed)-\(answer.version)\"" {
                    versions[version] = rows
                } else {
                    throw failure("\(version) is stored, not version \(answer.version) of f\(request.feed)")
                }
            }
            guard let rows = versions[version] else { throw failure("\(version) has never been committed") }
            guard model.holds(rows) else {
                throw failure("\(version) is stored, and these of its rows are not there: \(model.missing(rows))")
            }
        }
    }
}

extension [String] {
    /// Those of others that are not here, each as often as it is missing.
    fileprivate func missing(from others: [String]) -> [String] {
        var rest = self
        return others.filter { other in
            guard let index = rest.firstIndex(of: other) else { return true }
            rest.remove(at: index)
            return false
        }
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
