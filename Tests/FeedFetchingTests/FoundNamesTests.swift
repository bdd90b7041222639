import AsyncHTTPClient
import FeedConfiguration
import FeedModel
import Testing

@testable import FeedFetching

/// Names are looked up on threads of their own before the client connects.
@Suite struct FoundNamesTests {
    /// Names of which some have an address, and some have a name server that does not answer.
    private final class Names: NameLookup {
        private let names = Mutex<[String]>([])

        var asked: [String] { names.withLock(\.self) }

        func addresses(of host: String) async throws -> [IPAddress] {
            names.withLock { $0.append(host) }
            if host == "silent.test" { try await NetworkTime.sleep(for: .seconds(3_600)) }
            return host == "known.test" ? [IPAddress(literal: "127.0.0.1")].compactMap(\.self) : []
        }
    }

    @Test func aFoundNameIsNotLookedUpAgainUntilARequestFails() async throws {
        let names = Names()
        let found = FoundNames(names)
        for _ in 0..<3 { try await found.find("known.test", port: 80, within: .seconds(60)) }
        #expect(names.asked == ["known.test"])
        found.forget("known.test")
        try await found.find("known.test", port: 80, within: .seconds(60))
        #expect(names.asked == ["known.test", "known.test"])
    }

    @Test(arguments: ["127.0.0.1", "::1", "127.1"]) func anAddressIsNoName(address: String) async throws {
        let names = Names()
        try await FoundNames(names).find(address, port: 80, within: .seconds(60))
        #expect(names.asked.isEmpty)
    }

    @Test func aNameWithoutAnAddressIsLookedUpEachTime() async throws {
        let names = Names()
        let found = FoundNames(names)
        for _ in 0..<2 {
            await #expect(throws: FoundNames.UnknownName.self) {
                try await found.find("unknown.test", port: 80, within: .seconds(60))
            }
        }
        #expect(names.asked.count == 2)
    }

    @Test func aNameServerThatDoesNotAnswerEndsWithTheConnectTimeout() async throws {
        await #expect(throws: HTTPClientError.connectTimeout) {
            try await FoundNames(Names()).find("silent.test", port: 80, within: .milliseconds(50))
        }
    }

    @Test func anyNumberOfNamesMayBeFound() async throws {
        let names = Names()
        let found = FoundNames(names)
        found.note("known.test")
        for number in 0..<10_000 { found.note("h\(number).test") }
        try await found.find("h9999.test", port: 80, within: .seconds(60))
        try await found.find("known.test", port: 80, within: .seconds(60))
        #expect(names.asked == ["known.test"])
    }
}
