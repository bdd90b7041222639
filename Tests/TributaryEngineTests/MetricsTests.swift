import FeedModel
import FeedStores
import Foundation
import Metrics
import TributaryWeb
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// What swift-metrics is told while a service works.
@Suite(.timeLimit(.minutes(10))) struct MetricsTests {
    /// A service that tells a registry of its own.
    private struct Measured {
        let registry: PrometheusRegistry
        let hooks: HookFixture

        /// The value of a series; nil where there is none.
        func value(_ series: String) -> Double? {
            hooks.service.refreshMetrics()
            return String(decoding: Array(registry.exposition().joined()), as: UTF8.self).split(separator: "\n")
                .first { $0.hasPrefix(series + " ") }
                .flatMap { $0.split(separator: " ").last }.flatMap { Double($0) }
        }

        func wait(for series: String, _ expected: Double?) async throws {
            try await hooks.wait("\(series) \(expected.map { "\($0)" } ?? "gone")") { value(series) == expected }
        }

        func wait(for series: String, _ condition: (Double) -> Bool) async throws {
            try await hooks.wait(series) { value(series).map(condition) ?? false }
        }
    }

    private func measure(
        _ fixture: EngineFixture, _ configuration: String, clock: any RunClock = SystemClock(),
        _ body: (Measured) async throws -> Void
    ) async throws {
        let registry = PrometheusRegistry(hasProcess: false)
        try await withMetricsFactory(registry) {
            try await HookFixture.run(fixture, configuration, clock: clock) { hooks in
                try await body(Measured(registry: registry, hooks: hooks))
            }
        }
    }

    @Test func recordsThatAreLeftOutAreCounted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", "<r><n id='1'/><n id='x'/><n id='y'/></r>")
            let mapping = """
                [[sources.s.requests]]
                url = "URL/a"
                [[sources.s.requests.tables]]
                table = "number"
                element = "n"
                key = ["id"]
                columns.id = { path = "@id", type = "integer", on_error = "skip" }

                """
            try await measure(fixture, mapping) { measured in
                let rejected = "tributary_rejected_records_total{source=\"s\"}"
                try await measured.wait(for: rejected, 2)
                // A discarded run has left out none.
                fixture.server.document("/a", "<r><n id='x'/></r>")
                measured.hooks.service.refresh(["s"])
                try await measured.wait(for: "tributary_runs_total{outcome=\"discarded\",source=\"s\"}", 1)
                #expect(measured.value(rejected) == 2)
            }
        }
    }

    @Test func runsAreCounted() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let document = EngineFixture.items(["1", "2", "3"])
            fixture.server.document("/a", document, etag: "\"1\"")
            try await measure(fixture, HookFixture.mapping()) { measured in
                func runs(_ outcome: String) -> String { "tributary_runs_total{outcome=\"\(outcome)\",source=\"s\"}" }
                func rows(_ operation: String) -> String {
                    "tributary_rows_total{operation=\"\(operation)\",source=\"s\"}"
                }
                try await measured.wait(for: runs("committed"), 1)
                #expect(measured.value(runs("discarded")) == 0 && measured.value(runs("unchanged")) == 0)
                #expect(measured.value(rows("insert")) == 3 && measured.value(rows("delete")) == 0)
                #expect(measured.value("tributary_received_bytes_total{source=\"s\"}") == Double(document.utf8.count))
                #expect(measured.value("tributary_http_requests_total{code=\"200\"}") == 1)
                #expect(measured.value("tributary_run_duration_seconds_count") == 1)
                #expect(measured.value("tributary_commit_duration_seconds_count") == 1)
                measured.hooks.service.refresh(["s"])
                try await measured.wait(for: runs("unchanged"), 1)
                #expect(measured.value("tributary_http_requests_total{code=\"304\"}") == 1)
                #expect(measured.value("tributary_commit_duration_seconds_count") == 1)
                fixture.server.route("/a") { _ in [.reset] }
                measured.hooks.service.refresh(["s"])
                try await measured.wait(for: runs("discarded"), 1)
                #expect(measured.value("tributary_http_requests_total{code=\"none\"}") ?? 0 >= 1)
                #expect(measured.value("tributary_consecutive_failures{source=\"s\"}") == 1)
                #expect(measured.value("tributary_failing_since_timestamp_seconds{source=\"s\"}") != nil)
                #expect(measured.value("tributary_sources{state=\"failing\"}") == 1)
                fixture.server.document("/a", EngineFixture.items(["1"]))
                measured.hooks.service.refresh(["s"])
                try await measured.wait(for: runs("committed"), 2)
                #expect(measured.value(rows("delete")) == 2)
                #expect(measured.value("tributary_consecutive_failures{source=\"s\"}") == 0)
                #expect(measured.value("tributary_failing_since_timestamp_seconds{source=\"s\"}") == nil)
                #expect(measured.value("tributary_sources{state=\"ok\"}") == 1)
            }
        }
    }

    @Test(.onEachStore) func whatASourceWasBeforeARestartIsTold() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = HookFixture.mapping() + HookFixture.mapping("t", path: "/b")
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"1\"")
            fixture.server.document("/b", EngineFixture.items(["1"]))
            try await fixture.sync(sources)
            // Unchanged is a success, too, and the state of a source that fails does not tell of it.
            try await fixture.sync(sources, ["s"])
            fixture.server.route("/a") { _ in StubServer.response(500, "") }
            for _ in 0..<2 { try await fixture.sync(sources, ["s"]) }
            let runs = try fixture.rows(
                "SELECT source, outcome FROM tributary_run WHERE outcome IN ('committed', 'unchanged') ORDER BY id")
            #expect(
                runs == ["s|committed", "t|committed", "s|unchanged"]
                    || runs == ["t|committed", "s|committed", "s|unchanged"])
            try await measure(fixture, sources) { measured in
                let states = try measured.hooks.service.store.read { try $0.sources.all() }
                let runs = try measured.hooks.service.store.read { try $0.runs.last(of: "s", limit: 10) }
                let good = try #require(runs.first { $0.outcome == .unchanged })
                try await measured.wait(for: "tributary_consecutive_failures{source=\"s\"}", 2)
                func expect(_ name: String, _ source: String, _ date: Date?) {
                    let value = measured.value("tributary_\(name)_timestamp_seconds{source=\"\(source)\"}")
                    let difference = abs((value ?? 0) - (date?.timeIntervalSince1970 ?? -1))
                    #expect(difference < 0.002, "\(name) of \(source): \(value ?? 0)")
                }
                expect("last_success", "s", states["s"]?.lastGood)
                let lastGood = try #require(states["s"]?.lastGood)
                #expect(abs(lastGood.timeIntervalSince(good.startedAt + good.seconds)) < 1)
                expect("last_success", "t", states["t"]?.lastGood)
                expect("failing_since", "s", states["s"]?.failingSince)
                expect("next_due", "s", states["s"]?.nextDue)
                expect("next_due", "t", states["t"]?.nextDue)
                // Counters begin with the process.
                #expect(measured.value("tributary_runs_total{outcome=\"committed\",source=\"t\"}") == 0)
                #expect(measured.value("tributary_store_bytes") ?? 0 > 10_000)
            }
        }
    }

    @Test func aBlockedRunIsSeen() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)))
            try await measure(fixture, HookFixture.mapping()) { measured in
                try await measured.wait(for: "tributary_blocked{source=\"s\"}", 0)
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\",source=\"s\"}", 1)
                fixture.server.document("/a", EngineFixture.items(["1"]))
                measured.hooks.service.refresh(["s"])
                try await measured.wait(for: "tributary_blocked{source=\"s\"}", 1)
                #expect(measured.value("tributary_sources{state=\"blocked\"}") == 1)
                try measured.hooks.service.accept(["s"])
                try await measured.wait(for: "tributary_blocked{source=\"s\"}", 0)
                #expect(measured.value("tributary_rows_total{operation=\"delete\",source=\"s\"}") == 199)
            }
        }
    }

    @Test func seriesOfSourcesComeAndGoWithTheConfiguration() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let both = HookFixture.mapping() + HookFixture.mapping("t")
            try await measure(fixture, both) { measured in
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\",source=\"t\"}", 1)
                measured.hooks.service.reload(try fixture.configuration(HookFixture.mapping()))
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\",source=\"t\"}", nil)
                try await measured.wait(for: "tributary_consecutive_failures{source=\"t\"}", nil)
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\",source=\"s\"}", 1)
                measured.hooks.service.reload(try fixture.configuration(both))
                try await measured.wait(for: "tributary_consecutive_failures{source=\"t\"}", 0)
            }
        }
    }

    @Test func withoutSeriesOfSourcesNoneIsNamed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let sources = "[daemon]\nmetrics_per_source = false\n" + HookFixture.mapping() + HookFixture.mapping("t")
            try await measure(fixture, sources) { measured in
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\"}", 2)
                #expect(measured.value("tributary_rows_total{operation=\"insert\"}") == 2)
                #expect(measured.value("tributary_consecutive_failures") == 0)
                let text = String(decoding: Array(measured.registry.exposition().joined()), as: UTF8.self)
                #expect(!text.contains("source="))
            }
        }
    }

    @Test func theKeyIsABoolean() async throws {
        try await EngineFixture.expectMistake(
            "[daemon]\nmetrics_per_source = \"no\"\n", "daemon.metrics_per_source: expected true or false, found")
    }

    @Test(.onEachStore) func aHookThatIsBehindIsSeen() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/hook") { _ in StubServer.response(500, "") }
            fixture.server.document("/a", EngineFixture.items(["1"]))
            // The clock runs a thousand times too fast for a delivery in seconds.
            let configuration =
                HookFixture.mapping() + EngineFixture.hook("\"changed\"", "timeout = \"10m\"")
            try await measure(fixture, configuration, clock: fixture.clock) { measured in
                try await measured.wait(for: "tributary_runs_total{outcome=\"committed\",source=\"s\"}", 1)
                let running = Task {
                    while !Task.isCancelled {
                        fixture.clock.advance(by: 5)
                        try? await Task.sleep(for: .milliseconds(5))
                    }
                }
                defer { running.cancel() }
                try await measured.wait(for: "tributary_hook_consecutive_failures{hook=\"chat\"}") { $0 >= 2 }
                try await measured.wait(for: "tributary_hook_lag_seconds{hook=\"chat\"}") { $0 > 60 }
                #expect(measured.value("tributary_hook_lag_runs{hook=\"chat\"}") ?? 0 >= 1)
                fixture.accept()
                try await measured.wait(for: "tributary_hook_lag_runs{hook=\"chat\"}", 0)
                try await measured.wait(for: "tributary_hook_consecutive_failures{hook=\"chat\"}", 0)
                try await measured.wait(for: "tributary_hook_lag_seconds{hook=\"chat\"}", 0)
            }
        }
    }
}
