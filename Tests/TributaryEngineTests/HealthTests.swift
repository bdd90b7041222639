import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStores
import Foundation
import GRDB
import Logging
import PostgresStore
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import SQLiteStore
@testable import TributaryEngine

/// Whether an engine does its work, and how that is found out.
@Suite(.timeLimit(.minutes(10))) struct HealthTests {
    @Test func aFeedThatFailsIsNoMatterOfIt() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            try await HookFixture.run(fixture, HookFixture.mapping()) { hooks in
                try await hooks.wait("a run") {
                    try hooks.service.store.read { try $0.sources.state(of: "s") }.failures > 0
                }
                let report = await hooks.service.health.report()
                #expect(report == HealthReport(scheduler: .good, store: .good))
            }
        }
    }

    @Test func aSchedulerThatStandsStillIsNoticed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            // A log that nobody reads blocks the loop.
            let gate = LogGate()
            let configuration = try fixture.configuration(HookFixture.mapping())
            let environment = RunEnvironment(
                configuration: configuration,
                store: try SQLiteStore(path: fixture.storePath), registry: ParserRegistry([]),
                http: HTTPFetcher(now: { Date() }), hosts: HostGate(limit: 1),
                slots: Slots(limit: 1), clock: fixture.clock,
                logger: Logger(label: "test") { _ in gate }, executor: EngineExecutor(SystemThreads()))
            let scheduler = Scheduler(environment: environment) { _ in }
            let health = Health(
                { await scheduler.heartbeat() }, environment.store,
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() },
                timeLimit: .milliseconds(100), shown: \.self)
            let running = Task { try await scheduler.run() }
            while await !health.report().isGood {}
            gate.close()
            var other = configuration
            other.store = .file("/elsewhere.sqlite")
            scheduler.reload(other)
            await gate.waitUntilBlocked()
            var report = await health.report()
            // The last answer counts for a moment, and on a busy machine the store may be late once, too.
            while report.scheduler == .good || report.store != .good { report = await health.report() }
            #expect(report.mayBeCuredByRestart)
            #expect(report.problems.first?.hasPrefix("the scheduler has not answered for ") == true)
            #expect(report.problems.count == 1 && report.kinds == ["the scheduler hangs"])
            gate.open()
            while await !health.report().isGood {}
            running.cancel()
            try await running.value
            try await environment.http.shutdown()
            try environment.store.close()
        }
    }

    /// A server that does not answer is not back sooner because the daemon was started again.
    @Test func onlyASchedulerThatStandsStillIsCuredByARestart() {
        let silent = HealthReport.Finding.silent("it has not answered for 5 seconds")
        #expect(HealthReport(scheduler: silent, store: .good).mayBeCuredByRestart)
        #expect(!HealthReport(scheduler: .good, store: silent).mayBeCuredByRestart)
        #expect(!HealthReport(scheduler: .good, store: .failed("full")).mayBeCuredByRestart)
    }

    @Test func aQuestionThatHangsIsAskedOnce() async throws {
        let asked = Mutex(0)
        let (answers, answer) = AsyncStream<Void>.makeStream()
        let probe = HealthProbe("it", timeLimit: .milliseconds(50), freshness: .seconds(60)) {
            asked.withLock { $0 += 1 }
            for await _ in answers { break }
            return .good
        }
        async let first = probe.finding()
        async let second = probe.finding()
        let findings = await [first, second]
        func isSilent(_ finding: HealthReport.Finding) -> Bool {
            guard case .silent(let text) = finding else { return false }
            return text.hasPrefix("it has not answered for ") && text.hasSuffix(" seconds")
        }
        #expect(findings.allSatisfy(isSilent))
        // Later ones do not wait again.
        let later = await probe.finding()
        #expect(isSilent(later))
        answer.yield()
        while await probe.finding() != .good { await Task.yield() }
        #expect(asked.withLock(\.self) == 1)
    }

    @Test(.onEachStore) func toAskChangesNothing() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await fixture.sync("")
            let store = try #require(try fixture.configuration("").openExistingStore())
            let before = try fixture.dump()
            for _ in 0..<3 { try store.probe() }
            #expect(try fixture.dump() == before && store.size() > 4096)
            try store.close()
        }
    }

    @Test func aCommitOfOthersMayTakeItsTime() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = folder.file("store.sqlite")
            let store = try SQLiteStore(path: path)
            let other = try DatabaseQueue(path: path)
            let impatient = StoreProbe(path, longestCommit: .zero)
            try await other.writeWithoutTransaction { db in
                try db.beginTransaction(.immediate)
                for _ in 0..<2 { try store.probe() }
                // The first look notes the lock, the next one finds it there.
                try impatient.check()
                #expect {
                    try impatient.check()
                } throws: { error in
                    "\(error)".contains("has been locked for 0 seconds, in which nothing was committed")
                }
                try db.execute(sql: "CREATE TABLE other (id)")
                try db.commit()
                try impatient.check()
                try db.beginTransaction(.immediate)
                // Something was committed meanwhile.
                try impatient.check()
                try db.rollback()
            }
            try impatient.close()
            try other.close()
            try store.close()
        }
    }

    @Test(.onEachStore) func aServerThatOnlyReadsIsNoticed() async throws {
        guard StoreKind.current == .postgres else { return }
        try await EngineFixture.with { (fixture) async throws in
            try await fixture.sync("")
            let url = try #require(fixture.store.url)
                .replacing("options='", with: "options='-cdefault_transaction_read_only=on ")
            let store = try PostgresStore(readingAt: url, workFolder: fixture.folder.file("work"))
            #expect {
                try store.probe()
            } throws: { error in
                "\(error)".contains("cannot be written: the session is read-only; see default_transaction_read_only")
            }
            try store.close()
        }
    }

    /// A disk that is full, and one that only reads: a small file system of the test's own.
    @Test(.enabled(if: SmallDisk.isPossible), arguments: SmallDisk.Fault.allCases)
    func aDiskThatTakesNothingIsNoticed(fault: SmallDisk.Fault) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let disk = try SmallDisk(in: folder)
            defer { disk.remove() }
            let store = try SQLiteStore(path: disk.path + "/store.sqlite")
            try store.probe()
            try disk.suffer(fault)
            #expect {
                try store.probe()
            } throws: { error in
                "\(error)".contains(disk.path + "/store.sqlite cannot be written") && "\(error)".contains(fault.words)
            }
            try disk.mend(fault)
            try store.probe()
            try store.close()
        }
    }
}

/// A log that holds up whoever writes to it.
private final class LogGate: LogHandler {
    private struct State {
        var isClosed = false
        var isBlocked = false
    }

    private let state = Mutex(State())
    private let semaphore = DispatchSemaphore(value: 0)

    func close() { state.withLock { $0.isClosed = true } }

    func open() {
        state.withLock { $0.isClosed = false }
        semaphore.signal()
    }

    func waitUntilBlocked() async {
        while !state.withLock(\.isBlocked) { await Task.yield() }
    }

    func log(event: LogEvent) {
        let waits = state.withLock { state in
            state.isBlocked = state.isClosed
            return state.isClosed
        }
        if waits { semaphore.wait() }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }

    var logLevel: Logger.Level {
        get { .trace }
        set {}
    }
}
