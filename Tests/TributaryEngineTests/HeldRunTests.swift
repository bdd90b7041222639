import FeedModel
import FeedStores
import Foundation
import TestStores
import TestSupport
import Testing
import TributaryStores

@testable import TributaryEngine

/// Runs that are held back, where their bodies are kept.
@Suite(.onEachStore) struct HeldRunTests {
    @Test func aReplayIsHeldBackLikeASync() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)))
            try await fixture.sync(KeptBodyTests.mapping())
            let before = try fixture.dump()
            let narrowed = KeptBodyTests.mapping().replacing("\"item\"", with: "\"item[@id='7']\"")
            let report = try await KeptBodyTests.replay(fixture, narrowed)
            #expect(report.error?.contains("would delete 199 of the 200 rows") == true)
            #expect(try fixture.dump() == before)
        }
    }

    @Test func whatWasHeldBackIsNotFetchedAgain() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func document(_ items: Range<Int>, etag: String) {
                fixture.server.document("/a", EngineFixture.items(items.map(String.init)), etag: etag)
            }
            func accept() throws {
                let store = try #require(
                    try fixture.configuration(KeptBodyTests.mapping()).openExistingStore(isWritten: true))
                try store.accept(["s"], until: Date() + 60)
                try store.close()
            }
            document(0..<200, etag: "\"1\"")
            try await fixture.sync(KeptBodyTests.mapping())
            document(0..<9, etag: "\"2\"")
            let held = try #require(try await fixture.sync(KeptBodyTests.mapping()).first)
            #expect(held.outcome == .discarded)
            #expect(try KeptBodyTests.files(fixture).count == 3)
            try accept()
            // It need not be due, as nothing is sent.
            let accepted = try #require(try await fixture.sync(KeptBodyTests.mapping(), mode: .whenDue).first)
            #expect(accepted.error == nil && accepted.counts.deleted == 191 && accepted.kind == nil)
            #expect(fixture.server.requests("/a").count == 2)
            #expect(try KeptBodyTests.files(fixture) == Set(KeptBodyTests.names(fixture)))
            #expect(try KeptBodyTests.names(fixture).count == 2)
            #expect(try await fixture.sync(KeptBodyTests.mapping()).first?.outcome == .unchanged)
            // A run in between has fetched something else.
            document(0..<200, etag: "\"3\"")
            try await fixture.sync(KeptBodyTests.mapping())
            document(0..<8, etag: "\"4\"")
            try await fixture.sync(KeptBodyTests.mapping())
            document(0..<7, etag: "\"5\"")
            try await fixture.sync(KeptBodyTests.mapping())
            let asked = fixture.server.requests("/a").count
            try accept()
            #expect(try await fixture.sync(KeptBodyTests.mapping()).first?.counts.deleted == 193)
            #expect(fixture.server.requests("/a").count == asked)
        }
    }

    @Test func requestsThatWereUnchangedStaySo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let two = KeptBodyTests.mapping() + KeptBodyTests.mapping(path: "/b").replacing("thing", with: "other")
            fixture.server.document("/a", EngineFixture.items((0..<200).map(String.init)), etag: "\"1\"")
            fixture.server.document("/b", EngineFixture.items(["1"]), etag: "\"1\"")
            try await fixture.sync(two)
            fixture.server.document("/a", EngineFixture.items(["1"]), etag: "\"2\"")
            #expect(try await fixture.sync(two).first?.outcome == .discarded)
            let store = try #require(try fixture.configuration(two).openExistingStore(isWritten: true))
            try store.accept(["s"], until: Date() + 60)
            try store.close()
            let report = try await fixture.sync(two).first
            #expect(report?.requests.map(\.outcome) == [.parsed, .unchanged] && report?.error == nil)
            #expect(fixture.server.requests().count == 4)
            #expect(try KeptBodyTests.names(fixture).count == 3)
            let again = try await fixture.sync(two).first
            #expect(again?.outcome == .unchanged)
        }
    }
}
