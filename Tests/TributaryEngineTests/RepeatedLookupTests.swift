import FeedModel
import FeedStores
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing

@testable import TributaryEngine

/// An unchanged document whose rows refer to others (`references`) that have changed: the rows are looked up again.
@Suite(.onEachStore) struct RepeatedLookupTests {
    private static let trips = """
        [[sources.trips.requests]]
        key = "trips"
        url = "URL/trips"
        sync = "mirror"
        max_deleted = "100%"
        allow_empty = true
        [[sources.trips.requests.tables]]
        table = "trip"
        element = "trip"
        key = ["id"]
        columns = { id = "@id", name = "@name" }

        """

    private static func vehicles(_ reference: String) -> String {
        """
        [[sources.vehicles.requests]]
        key = "vehicles"
        url = "URL/vehicles"
        [[sources.vehicles.requests.tables]]
        table = "vehicle"
        element = "vehicle"
        key = ["id"]
        columns = { id = "@id", trip = { path = "@trip", \(reference) } }

        """
    }

    private func serve(_ fixture: EngineFixture, trips: String, etag: String) {
        fixture.server.document("/trips", "<trips>\(trips)</trips>", etag: "\"\(etag)\"")
    }

    private func trips(_ fixture: EngineFixture) throws -> [String] {
        try fixture.rows("SELECT id, coalesce(trip, '-') FROM vehicle ORDER BY id")
    }

    /// The sources are declared apart, or as one of two requests.
    @Test(arguments: [false, true]) func aRowThatComesLaterIsFound(isOneSource: Bool) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let vehicles = Self.vehicles("references = \"trip(id)\", missing = \"null\"")
            let sources =
                isOneSource
                ? (Self.trips + vehicles).replacing("sources.vehicles", with: "sources.trips")
                : Self.trips + vehicles
            func sync() async throws {
                for report in try await fixture.sync(sources) { #expect(report.outcome.isGood, "\(report)") }
            }
            serve(fixture, trips: "<trip id='1'/>", etag: "1")
            fixture.server.document(
                "/vehicles", "<vehicles><vehicle id='a' trip='1'/><vehicle id='b' trip='2'/></vehicles>", etag: "\"v\"")
            // The tables of two sources may not be there yet.
            try await fixture.sync(sources)
            try await sync()
            #expect(try trips(fixture) == ["a|1", "b|-"])
            serve(fixture, trips: "<trip id='1'/><trip id='2'/>", etag: "2")
            try await sync()
            if !isOneSource { try await sync() }
            #expect(try trips(fixture) == ["a|1", "b|2"])
            // What needs no look-up asks no more than before.
            serve(fixture, trips: "<trip id='1' name='x'/><trip id='2'/>", etag: "3")
            try await sync()
            let count = fixture.server.requests("/vehicles").count
            try await sync()
            #expect(fixture.server.requests("/vehicles").count == count + 1)
            #expect(fixture.server.requests("/vehicles").last?.headers["if-none-match"] == "\"v\"")
        }
    }

    /// The value by which a row is found goes to another one.
    @Test func aValueOfAnotherRowIsFound() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = Self.trips + Self.vehicles("references = \"trip(name)\"")
            serve(fixture, trips: "<trip id='1' name='x'/><trip id='2' name='y'/>", etag: "1")
            fixture.server.document("/vehicles", "<vehicles><vehicle id='a' trip='x'/></vehicles>", etag: "\"v\"")
            for _ in 1...2 { try await fixture.sync(sources) }
            #expect(try trips(fixture) == ["a|1"])
            serve(fixture, trips: "<trip id='1' name='y'/><trip id='2' name='x'/>", etag: "2")
            for _ in 1...2 { try await fixture.sync(sources) }
            #expect(try trips(fixture) == ["a|2"])
        }
    }

    @Test func theFirstRunsOfTwoSourcesFindTheirRows() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let vehicles = Self.vehicles("references = \"trip(id)\"").replacing("sources.vehicles", with: "sources.a")
            serve(fixture, trips: "<trip id='1' name='A'/>", etag: "1")
            fixture.server.document("/vehicles", "<vehicles><vehicle id='v' trip='1'/></vehicles>", etag: "\"v\"")
            // Its query needs the table itself.
            let stops = """
                [[sources.b.requests]]
                url = "URL/stops/${row:id}"
                for_each = "SELECT id FROM main.Trip"
                tables = [{ table = "stop", element = "stop", key = ["id"], columns = { id = "@id" } }]

                """
            fixture.server.document("/stops/1", "<stops><stop id='s'/></stops>")
            for report in try await fixture.sync(vehicles + stops + Self.trips) {
                #expect(report.outcome == .committed, "\(report)")
            }
            #expect(try trips(fixture) == ["v|1"])
            #expect(try fixture.rows("SELECT id FROM stop") == ["s"])
        }
    }

    /// The documents have not changed, and one refers to a row that expires.
    @Test(arguments: [nil, "\"v\""]) func aReferenceToAnExpiredRowIsLookedUpAgain(etag: String?) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = """
                [[sources.s.requests]]
                url = "URL/firms"
                [[sources.s.requests.tables]]
                table = "firm"
                element = "f"
                key = ["id"]
                expire = { column = "stop", after = "1d" }
                columns = { id = "@id", stop = { path = "@stop", type = "datetime" } }
                [[sources.s.requests]]
                url = "URL/people"
                [[sources.s.requests.tables]]
                table = "person"
                element = "p"
                key = ["id"]
                columns = { id = "@id", firm = { path = "@f", references = "firm(id)", missing = "null" } }

                """
            let clock = SystemClock()
            let stop = clock.now().addingTimeInterval(-86_000).formatted(.iso8601)
            fixture.server.document("/firms", "<r><f id='a' stop='\(stop)'/><f id='b'/></r>", etag: etag)
            fixture.server.document("/people", "<r><p id='1' f='a'/></r>", etag: etag)
            #expect(try await fixture.sync(sources).first?.counts.inserted == 3)
            let later = ManualClock(clock.now() + 1_000)
            let report = try #require(try await fixture.sync(sources, clock: later).first)
            #expect(report.outcome == .committed && report.counts.deleted == 1, "\(report)")
            #expect(try fixture.rows("SELECT id, firm FROM person") == ["1|NULL"])
            #expect(try await fixture.sync(sources, clock: later).first?.outcome == .unchanged)
        }
    }

    /// A row without a key is found by all of its values, of which one is NULL.
    @Test func aRowWithoutKeyWhoseReferenceFindsNothingHasChildren() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let source = """
                [[sources.s.requests]]
                url = "URL/firms"
                [[sources.s.requests.tables]]
                table = "firm"
                element = "firm"
                key = ["code"]
                columns = { code = "@code" }
                [[sources.s.requests]]
                url = "URL/notes"
                sync = "mirror"
                [[sources.s.requests.tables]]
                table = "memo"
                element = "memo"
                columns = { title = "@t", firm = { path = "@firm", references = "firm(code)", missing = "null" } }
                [[sources.s.requests.tables]]
                table = "part"
                element = "memo/part"
                key = ["n"]
                columns = { n = "@n", memo = { parent = "memo" } }

                """
            let notes = "<memo t='a' firm='x'><part n='1'/></memo><memo t='b' firm='y'><part n='2'/></memo>"
            fixture.server.document("/notes", "<r>\(notes)<memo t='c'><part n='3'/></memo></r>")
            let found =
                "SELECT n, title, coalesce(firm.code, '-') FROM part JOIN memo ON memo.id = part.memo "
                + "LEFT JOIN firm ON firm.code = memo.firm ORDER BY n"
            for (firms, expected) in [
                ("<firm code='x'/>", ["1|a|x", "2|b|-", "3|c|-"]),
                ("<firm code='x'/>", ["1|a|x", "2|b|-", "3|c|-"]),
                ("<firm code='x'/><firm code='y'/>", ["1|a|x", "2|b|y", "3|c|-"]),
            ] {
                fixture.server.document("/firms", "<r>\(firms)</r>")
                let report = try #require(try await fixture.sync(source, mode: .full).first)
                #expect(report.error == nil, "\(report)")
                #expect(try fixture.rows(found) == expected)
            }
            #expect(try fixture.rows("SELECT count(*) FROM memo") == ["3"])
        }
    }
}
