import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// Receivers that do not do as they should.
@Suite struct HookReceiverTests {
    @Test func aReceiverThatFailsForAnHourIsToldEverythingInOrder() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let clock = fixture.clock
            let start = clock.now()
            fixture.server.route("/hook") { _ in
                StubServer.response(clock.now().timeIntervalSince(start) < 3600 ? 500 : 200, "")
            }
            fixture.accept("/good")
            fixture.server.document("/a", EngineFixture.items(["1"]))
            let configuration =
                HookFixture.mapping() + EngineFixture.hook("\"changed\"")
                + EngineFixture.hook("\"changed\"", name: "good", path: "/good")
            try await HookFixture.run(fixture, configuration, clock: clock) { (hooks) async throws in
                for count in 1...4 {
                    fixture.server.document("/a", EngineFixture.items((0..<count).map { "new \($0)" }))
                    if count > 1 { hooks.service.refresh(["s"]) }
                    // Another hook is told meanwhile, and nothing waits.
                    while try hooks.events("/good").count < count {
                        clock.advance(by: 0.1)
                        try await Task.sleep(for: .milliseconds(2))
                    }
                }
                var waits: [Double] = []
                while clock.now().timeIntervalSince(start) < 3600 {
                    let attempts = waits.count
                    var state: HookState?
                    try await hooks.wait("attempt \(attempts + 1)") {
                        state = try hooks.service.store.read { try $0.hooks.state(of: "chat") }
                        return (state?.attempts ?? 0) > attempts
                    }
                    let next = try #require(state?.nextAttempt)
                    // Some may have passed while the other hook was told.
                    while waits.count < state?.attempts ?? 0 { waits.append(next.timeIntervalSince(clock.now())) }
                    clock.advance(by: max(0, next.timeIntervalSince(clock.now())) + 0.01)
                }
                #expect((8...14).contains(waits.count), "\(waits)")
                #expect(waits == waits.sorted(), "\(waits)")
                try await hooks.wait("the receiver's recovery") {
                    try hooks.service.store.read { try $0.hooks.state(of: "chat") }?.attempts == 0
                }
                while try Set(hooks.events().map(\.id)).count < 4 {
                    clock.advance(by: 0.1)
                    try await Task.sleep(for: .milliseconds(2))
                }
                let ids = try hooks.events().map(\.id)
                #expect(Set(ids.prefix(waits.count)).count == 1 && Set(ids).count == 4)
            }
        }
    }

    @Test func receiversThatHangResetOrRedirectAreTriedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let server = fixture.server
            server.route("/hang") { _ in [.hang] }
            server.route("/reset") { _ in [.reset] }
            server.route("/redirect") { _ in [StubServer.head(307, ["Location": "/target", "Content-Length": "0"])] }
            server.route("/busy") { _ in StubServer.response(503, "", ["Retry-After": "3600"]) }
            server.route("/gone") { _ in StubServer.response(410, "") }
            fixture.accept("/target")
            fixture.accept("/good")
            server.document("/a", EngineFixture.items(["1"]))
            let names = ["hang", "reset", "redirect", "busy", "gone", "good"]
            let hooks = names.map {
                EngineFixture.hook("\"changed\"", name: $0, path: "/\($0)", "timeout = \"300ms\"")
            }
            try await HookFixture.run(fixture, HookFixture.mapping() + hooks.joined()) { (hooks) async throws in
                _ = try await hooks.events("/good", count: 1)
                try await hooks.wait("the errors") {
                    try fixture.rows("SELECT name FROM tributary_hook WHERE attempts > 0").count == 5
                }
                // All but the one that is gone, and the busy one, are tried again.
                for path in ["/hang", "/reset", "/redirect"] { _ = try await hooks.events(path, count: 2) }
                let errors = try fixture.rows(
                    "SELECT name, error FROM tributary_hook WHERE error IS NOT NULL ORDER BY name")
                for (name, expected) in [
                    ("hang", "no response within 0.3 s"), ("redirect", "307: redirects are not followed"),
                    ("busy", "answered 503"), ("gone", "410"), ("reset", "POST"),
                ] {
                    let isTold = errors.contains { $0.hasPrefix(name) && $0.contains(expected) }
                    #expect(isTold, "\(name): \(errors)")
                }
                #expect(try hooks.events("/gone").count == 1 && hooks.events("/busy").count == 1)
                #expect(server.requests("/target").isEmpty)
                #expect(try fixture.rows("SELECT count(*) FROM tributary_hook WHERE gone IS NOT NULL") == ["1"])
            }
            // Another address is told what the former did not want.
            server.document("/a", EngineFixture.items(["1", "2"]))
            let moved = EngineFixture.hook("\"changed\"", name: "gone", path: "/target")
            try await HookFixture.run(fixture, HookFixture.mapping() + moved) { (hooks) async throws in
                hooks.service.refresh(["s"])
                #expect(try await hooks.events("/target", count: 2).map(\.inserted) == [1, 1])
            }
        }
    }

    @Test func secretsOfAnAddressShowNowhere() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items(["1"]))
            fixture.server.route("/hook/t0k3n-value") { _ in StubServer.response(500, "") }
            let configuration = HookFixture.mapping() + EngineFixture.hook("\"changed\"", path: "/hook/${TOKEN}")
            let service = try fixture.service(
                configuration, clock: SystemClock(), environment: ["TOKEN": "t0k3n-value"])
            let running = Task { try await service.run() }
            let hooks = HookFixture(fixture: fixture, service: service)
            try await hooks.wait("the error") {
                try fixture.rows("SELECT error FROM tributary_hook").first?.contains("${TOKEN} answered 500") == true
            }
            running.cancel()
            try await running.value
            try service.store.close()
        }
    }
}
