import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import TributaryEngine

/// Who waits for whom: hosts that hang, and clocks that were wrong.
@Suite struct WaitingTests {
    private static let tenYears = 3650.0 * 86_400

    /// Runs a service and expects the first outcome to be that of the source `healthy`.
    private func expectHealthyFirst(
        _ fixture: EngineFixture, concurrency: Int = 8, _ sources: String
    ) async throws {
        let daemon = "[daemon]\nconcurrency = \(concurrency)\nper_host = 2\n"
        let service = try fixture.service(daemon + sources, clock: SystemClock())
        let running = Task { try await service.run() }
        var outcomes = service.outcomes.makeAsyncIterator()
        let first = await outcomes.next()
        #expect(first?.source == "healthy" && first?.outcome == .committed, "\(String(describing: first))")
        running.cancel()
        try? await running.value
        try service.store.close()
    }

    @Test(.timeLimit(.minutes(10))) func fortySourcesOfAHostThatHangsDelayNobodyElse() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                fixture.server.route("/hang") { _ in [.hang] }
                other.document("/a", EngineFixture.items(["1"]))
                let hanging = (0..<40).map { EngineFixture.request("/hang", of: "a\($0)") }.joined()
                let healthy = EngineFixture.request("/a", of: "healthy").replacingOccurrences(
                    of: "URL", with: other.url)
                try await expectHealthyFirst(fixture, hanging + healthy)
                #expect(fixture.server.requests("/hang").count == 2)
            }
        }
    }

    /// What a server does that does not answer to its end.
    enum Hang: CaseIterable {
        /// It sends nothing.
        case silence
        /// It sends a byte now and then.
        case drip
        /// It sends more of a body than is read ahead, and then nothing.
        case stop

        var steps: [StubServer.Step] {
            let head = Array("HTTP/1.1 200 OK\r\nContent-Length: 10000000\r\n\r\n<items>".utf8)
            return switch self {
            case .silence: [.hang]
            case .drip: [.send(head), .drip(Array(" ".utf8), every: 0.1)]
            case .stop: [.send(head + [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)), .hang]
            }
        }
    }

    /// They are many more than there are slots.
    @Test(.timeLimit(.minutes(10)), arguments: Hang.allCases)
    func manyHostsThatHangDelayNobodyElse(hang: Hang) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let hosts = try (0..<64).map { _ in try StubServer() }
            defer { for host in hosts { host.stop() } }
            for host in hosts { host.route("/hang") { _ in hang.steps } }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let hanging = hosts.enumerated().map { number, host in
                EngineFixture.request("/hang", of: "a\(number)").replacingOccurrences(of: "URL", with: host.url)
            }
            try await expectHealthyFirst(
                fixture, concurrency: 2, hanging.joined() + EngineFixture.request("/a", of: "healthy"))
        }
    }

    /// They all hang, and a source that becomes due meanwhile runs at once.
    @Test(.timeLimit(.minutes(10)), arguments: Hang.allCases)
    func aSourceIsOnTimeBesideHostsThatHang(hang: Hang) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let hosts = try (0..<64).map { _ in try StubServer() }
            defer { for host in hosts { host.stop() } }
            for host in hosts { host.route("/hang") { _ in hang.steps } }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let hanging = hosts.enumerated().map { number, host in
                EngineFixture.request("/hang", of: "a\(number)").replacingOccurrences(of: "URL", with: host.url)
            }
            let service = try fixture.service(
                "[daemon]\nconcurrency = 2\n[defaults]\ntimeout = \"1h\"\n" + hanging.joined()
                    + EngineFixture.request("/a", of: "healthy"), clock: SystemClock())
            let running = Task { try await service.run() }
            while !hosts.allSatisfy({ !$0.requests("/hang").isEmpty }) {
                try await Task.sleep(for: .milliseconds(2))
            }
            for _ in 0..<3 {
                let before = fixture.server.requests("/a").count
                service.refresh(["healthy"])
                while fixture.server.requests("/a").count == before { try await Task.sleep(for: .milliseconds(2)) }
            }
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }

    /// They have begun, and hang in the middle of their stacks.
    @Test(.timeLimit(.minutes(10))) func stacksWhoseSecondRequestWaitsHoldNoSlot() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                fixture.server.route("/hang") { _ in [.hang] }
                other.document("/a", EngineFixture.items(["1"]))
                func begin(_ name: String) -> String {
                    EngineFixture.request("/a", of: name).replacingOccurrences(of: "URL", with: other.url)
                }
                let stacks = (0..<20).map { begin("a\($0)") + EngineFixture.request("/hang", of: "a\($0)") }.joined()
                try await expectHealthyFirst(fixture, stacks + begin("healthy"))
            }
        }
    }

    /// All stacks wait in their middle, and those that hold the host want it again.
    @Test(.timeLimit(.minutes(10))) func slotsAndPlacesDoNotWaitForEachOther() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                // The first is answered when all have begun.
                fixture.server.route("/again") { _ in
                    while other.requests("/a").count < 70 { usleep(1000) }
                    return StubServer.response(200, EngineFixture.items(["1"]))
                }
                other.document("/a", EngineFixture.items(["2"]))
                let stacks = (0..<70).map { number in
                    EngineFixture.request("/a", of: "s\(number)").replacingOccurrences(of: "URL", with: other.url)
                        + EngineFixture.request("/again", of: "s\(number)")
                        + EngineFixture.request("/again", of: "s\(number)")
                }
                let reports = try await fixture.sync(
                    "[daemon]\nconcurrency = 2\nper_host = 1\n" + stacks.joined())
                #expect(reports.count == 70 && reports.allSatisfy { $0.outcome.isGood })
            }
        }
    }

    @Test func aDueTimeOfAWrongClockIsCutToWhatWasDecided() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            let source = "[sources.s]\ncache = \"10m\"\n" + EngineFixture.request("/a")
            func outcome() async throws -> RunOutcome? {
                try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome
            }
            fixture.clock.advance(by: Self.tenYears)
            #expect(try await outcome() == .committed)
            fixture.clock.advance(by: -Self.tenYears)
            #expect(try await outcome() == .notDue)
            fixture.clock.advance(by: 599)
            #expect(try await outcome() == .notDue)
            fixture.clock.advance(by: 2)
            #expect(try await outcome() == .unchanged)
        }
    }

    @Test func aHostThatAskedForPatienceOfAWrongClockIsAskedAgainInTime() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in StubServer.response(429, "", ["Retry-After": "120"]) }
            let source = EngineFixture.request("/a")
            fixture.clock.advance(by: Self.tenYears)
            try await fixture.sync(source, clock: fixture.clock)
            fixture.clock.advance(by: -Self.tenYears)
            #expect(try await fixture.sync(source, clock: fixture.clock).first?.outcome == .notDue)
            fixture.clock.advance(by: 121)
            fixture.server.document("/a", EngineFixture.items(["1"]))
            #expect(try await fixture.sync(source, clock: fixture.clock).first?.outcome == .committed)
        }
    }

    @Test func aRunningServiceGoesOnWhenItsClockIsSetBack() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            fixture.clock.advance(by: Self.tenYears)
            let service = try fixture.service(
                "[sources.s]\ncache = \"10m\"\n" + EngineFixture.request("/a"), clock: fixture.clock)
            let running = Task { try await service.run() }
            var outcomes = service.outcomes.makeAsyncIterator()
            #expect(await outcomes.next()?.outcome == .committed)
            await service.heartbeat()
            fixture.clock.advance(by: 300)
            fixture.clock.advance(by: -Self.tenYears)
            // The clock is looked at with each event, and each minute.
            await service.heartbeat()
            // The store is told besides, by a task of its own.
            while try fixture.rows("SELECT next_due FROM tributary_source WHERE next_due > '2030-01-01'") != [] {
                try await Task.sleep(for: .milliseconds(2))
            }
            // It has waited for a part of the time.
            fixture.clock.advance(by: 350)
            #expect(await outcomes.next()?.outcome == .unchanged)
            running.cancel()
            try? await running.value
            try service.store.close()
        }
    }

    @Test func aSourceThatIsDeclaredDifferentlyIsDueAtOnce() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            func outcome(_ cache: String) async throws -> RunOutcome? {
                let source = "[sources.s]\ncache = \"\(cache)\"\n" + EngineFixture.request("/a")
                return try await fixture.sync(source, mode: .whenDue, clock: fixture.clock).first?.outcome
            }
            #expect(try await outcome("1d") == .committed)
            #expect(try await outcome("1d") == .notDue)
            #expect(try await outcome("5s") == .unchanged)
            #expect(try await outcome("5s") == .notDue)
            fixture.server.route("/a") { _ in StubServer.response(503, "", ["Retry-After": "600"]) }
            fixture.clock.advance(by: 10)
            #expect(try await outcome("5s") == .discarded)
            // What the server asked for outlives the change.
            #expect(try await outcome("6s") == .notDue)
        }
    }
}
