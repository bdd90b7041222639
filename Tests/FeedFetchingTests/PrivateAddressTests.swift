@testable import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Logging
import TestEngine
import TestStores
import TestSupport
import Testing
import TributaryStores
@testable import FeedFetching
@testable import TributaryEngine

/// Addresses that responses name never lead from a public host to one that is not.
@Suite struct PrivateAddressTests {
    /// Names whose addresses a test decides.
    private struct FakeNames: NameLookup {
        var known: [String: [String]]

        func addresses(of host: String) async throws -> [IPAddress] {
            (known[host.lowercased()] ?? []).compactMap { IPAddress(literal: $0) }
        }
    }

    private static let names = FakeNames(known: [
        "public.test": ["203.0.113.9"], "inside.test": ["10.0.0.7"], "both.test": ["203.0.113.9", "fd00::1"],
        "rebound.test": ["203.0.113.9"], "inside.test.": ["10.0.0.7"],
    ])

    private static let items = EngineFixture.items(["1"])

    /// Syncs with names that the test decides.
    private func sync(_ fixture: EngineFixture, _ sources: String) async throws -> RunReport {
        let configuration = try fixture.configuration(sources)
        let service = try SyncService(
            configuration: configuration, store: try configuration.openStore(schema: configuration.schema()),
            parsers: EngineFixture.registry,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, clock: SystemClock(), names: Self.names)
        let report = try #require(try await service.sync(mode: .force).first)
        try service.store.close()
        return report
    }

    @Test(arguments: [
        ("127.0.0.1", "loopback"), ("2130706433", "loopback"), ("0x7f.1", "loopback"), ("0177.0.0.1", "loopback"),
        ("127.1", "loopback"), ("127.0.0.1.", "loopback"), ("0x7F000001", "loopback"), ("[::1]", "loopback"),
        ("[::ffff:127.0.0.1]", "loopback"), ("[::ffff:7f00:1]", "loopback"),
        ("[::127.0.0.1]", "loopback, as IPv4 in IPv6"), ("[64:ff9b::10.0.0.1]", "private, as IPv4 in IPv6"),
        ("[64:ff9b:1::1]", "private (NAT64)"), ("[2002:a00:1::]", "private, as IPv4 in IPv6"),
        ("[2001:0:cb00:7109::f5ff:fffe]", "private, as IPv4 in IPv6"),
        ("[::ffff:0:10.0.0.1]", "private, as IPv4 in IPv6"),
        ("[2001:470::5efe:10.0.0.1]", "private, as IPv4 in IPv6"),
        ("[fe80::1%25eth0]", "link-local"), ("[fe80::1]", "link-local"), ("[fec0::1]", "site-local"),
        ("[fd00:ec2::254]", "unique-local"), ("[ff02::1]", "multicast"), ("[::]", "unspecified"),
        ("0.0.0.0", "unspecified"),
        ("0", "unspecified"), ("10.1.2.3", "private"), ("172.16.0.1", "private"), ("172.31.255.255", "private"),
        ("192.168.0.1", "private"), ("169.254.169.254", "link-local, a cloud's metadata"),
        ("169.254.1.1", "link-local"),
        ("168.63.129.16", "a cloud's metadata"), ("100.64.0.1", "carrier-grade NAT"),
        ("100.127.255.255", "carrier-grade NAT"),
        ("198.18.0.1", "reserved for benchmarks"), ("192.0.0.192", "reserved"), ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"), ("[100::1]", "reserved"),
    ])
    func addressesThatAreNotPublic(host: String, kind: String) throws {
        #expect(try #require(IPAddress(literal: host)).scope.description == kind)
    }

    @Test(arguments: [
        "1.1.1.1", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "169.253.0.1", "192.169.0.1", "198.17.0.1",
        "203.0.113.9", "223.255.255.255", "[2606:4700::1111]", "[64:ff9b::1.1.1.1]", "[2002:101:101::]",
        "[::ffff:1.1.1.1]",
        "16843009",
    ])
    func addressesThatArePublic(host: String) throws {
        #expect(try #require(IPAddress(literal: host)).scope.isGlobal)
    }

    @Test(arguments: ["example.org", "localhost", "1.2.3.4.5", "x127.0.0.1", "", "dead.beef", "256.1.1.1"])
    func namesAreNoAddresses(host: String) {
        #expect(IPAddress(literal: host) == nil)
    }

    // MARK: - Redirects

    /// The declared host is this machine's: to it a redirect may lead, to nothing else that is not public.
    @Test(
        arguments: [
            ("http://10.0.0.7/x", "http://10.0.0.7:80 (private)"),
            ("http://169.254.169.254/latest/meta-data", "http://169.254.169.254:80 (link-local, a cloud's metadata)"),
            ("http://0xa9fea9fe/", "(169.254.169.254, link-local, a cloud's metadata)"),
            ("http://[::ffff:192.168.1.1]/", "192.168.1.1"), ("http://[fd00::1]:8080/", "unique-local"),
            ("http://inside.test/", "http://inside.test:80 (10.0.0.7, private)"),
            ("http://inside.test./", "(10.0.0.7, private)"),
            ("http://both.test/", "http://both.test:80 (fd00::1, unique-local)"),
        ])
    func aRedirectIsRefused(location: String, shown: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.route("/a") { _ in [StubServer.head(302, ["Location": location, "Content-Length": "0"])] }
            let report = try await sync(fixture, EngineFixture.request("/a"))
            let error = try #require(report.error)
            #expect(report.source == "s" && report.outcome == .discarded)
            #expect(error.contains("request '1'") && error.contains("a redirect of \(fixture.server.url) leads to"))
            #expect(error.contains(shown) && error.contains("set allow_private = true"), "\(error)")
        }
    }

    @Test func aRedirectToTheSameMachineIsFollowed() async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { other in
                fixture.server.route("/a") { _ in
                    [StubServer.head(302, ["Location": "\(other.url)/c", "Content-Length": "0"])]
                }
                other.route("/c") { _ in [StubServer.head(302, ["Location": "/d", "Content-Length": "0"])] }
                other.document("/d", Self.items)
                let outcome = try await sync(fixture, EngineFixture.request("/a")).outcome
                #expect(outcome == .committed)
            }
        }
    }

    /// The proxy is on this machine, and its address says nothing of the host that answers.
    @Test(arguments: ["", "allow_private = true\n"])
    func throughAProxyAPublicHostLeadsToNoPrivateAddress(options: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            try await withStubServer { proxy in
                fixture.server.document("/b", Self.items)
                let place = "127.0.0.1:\(fixture.server.port)"
                proxy.route("feeds.test:80") { _ in [.send(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))] }
                proxy.route("/a") { _ in
                    [StubServer.head(302, ["Location": "http://\(place)/b", "Content-Length": "0"])]
                }
                proxy.route(place) { _ in [.send(Array("HTTP/1.1 200 Connected\r\n\r\n".utf8))] }
                proxy.document("/b", Self.items)
                let source =
                    "[sources.s]\n\(options)proxy = \"\(proxy.url)\"\n[[sources.s.requests]]\n"
                    + "url = \"http://feeds.test/a\"\nparser = \"ItemsParser\"\n"
                let report = try await sync(fixture, source)
                if options.isEmpty {
                    #expect(report.outcome == .discarded)
                    #expect(
                        report.error?.contains("a redirect of http://feeds.test:80 leads to http://\(place) (loopback)")
                            == true, "\(String(describing: report.error))")
                    #expect(proxy.requests("/b").isEmpty && proxy.requests(place).isEmpty)
                } else {
                    #expect(report.outcome == .committed, "\(String(describing: report.error))")
                }
            }
        }
    }

    // MARK: - Pages, captures, rows

    @Test(arguments: ["http://10.0.0.7/x", "http://inside.test/", "http://0x7f.1:PORT/there"])
    func aCapturedAddressIsRefusedUnlessItIsTheSameMachine(address: String) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let address = address.replacingOccurrences(of: "PORT", with: "\(fixture.server.port)")
            fixture.server.document("/login", "<r><feed>\(address)</feed></r>")
            fixture.server.document("/there", Self.items)
            let source = """
                [[sources.s.requests]]
                key = "login"
                url = "URL/login"
                capture = { feed = "/r/feed" }
                [[sources.s.requests]]
                url = "${capture:feed}"
                parser = "ItemsParser"
                """
            let report = try await sync(fixture, source)
            if address.contains("/there") {
                #expect(report.outcome == .committed, "\(String(describing: report.error))")
            } else {
                let error = try #require(report.error)
                #expect(
                    error.contains(
                        "${capture:feed}, of the response of request 'login', leads to \(address.dropLast(1).prefix(15))"
                    ), "\(error)")
                #expect(error.contains("allow_private"))
            }
        }
    }

    @Test func anAddressOfARowIsRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            func source(_ options: String) -> String {
                """
                [sources.s]
                \(options)
                [[sources.s.requests]]
                url = "URL/list"
                tables = [{ table = "place", element = "place", key = ["url"], columns = { url = "@url" } }]
                [[sources.s.requests]]
                url = "${row:url}"
                for_each = "SELECT url FROM staged.place"
                parser = "ItemsParser"
                """
            }
            fixture.server.document("/there", Self.items)
            fixture.server.document("/list", "<r><place url='\(fixture.server.url)/there'/></r>")
            #expect(try await sync(fixture, source("")).outcome == .committed)
            fixture.server.document("/list", "<r><place url='http://inside.test/secret?key=1'/></r>")
            let error = try #require(try await sync(fixture, source("")).error)
            #expect(error.contains("${row:url} leads to http://inside.test:80 (10.0.0.7, private)"), "\(error)")
            #expect(!error.contains("key=1"))
        }
    }

    /// Who has sent what stands in the store is not known; and of several values, each may be the wrong one.
    @Test func whatStoodInTheStoreLeadsToPublicAddressesOnly() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/there", Self.items)
            fixture.server.document("/list", "<r><place url='\(fixture.server.url)/there'/></r>")
            let list =
                "tables = [{ table = \"place\", element = \"place\", key = [\"url\"], columns = { url = \"@url\" } }]\n"
            let first = "[[sources.s.requests]]\nurl = \"URL/list\"\n"
            #expect(try await sync(fixture, first + list).outcome == .committed)
            let last = "[[sources.s.requests]]\nurl = \"${last:max(url)}\"\n"
            let rows = "[[sources.s.requests]]\nurl = \"${row:url}\"\nparser = \"ItemsParser\"\n"
            let ofStore = rows + "for_each = \"SELECT url FROM main.place\"\n"
            let ofBoth = rows + "for_each = \"SELECT p.url FROM main.place p JOIN staged.place USING (url)\"\n"
            let ofRun = rows + "for_each = \"WITH p AS (SELECT url FROM staged.place) SELECT url FROM p\"\n"
            for source in [
                last + list + "allow_empty = true\n", first + list + ofStore, first + list + ofBoth,
            ] {
                let error = try #require(try await sync(fixture, source).error, "\(source)")
                #expect(error.contains("leads to \(fixture.server.url) (loopback), which is refused"), "\(error)")
                let allowed = "[sources.s]\nallow_private = true\n"
                #expect(try await sync(fixture, allowed + source).outcome != .discarded, "\(source)")
            }
            #expect(try await sync(fixture, first + list + ofRun).outcome == .committed)
        }
    }

    @Test func ofSeveralValuesOfAnAddressEachCounts() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let provenance = AddressProvenance(
                namer: "${capture:a}", origin: "http://a.test:80", from: IPAddress(literal: "127.0.0.1"))
            let other = AddressProvenance(
                namer: "${capture:b}", origin: "http://b.test:80", from: IPAddress(literal: "192.0.2.1"))
            let configuration = try fixture.configuration(
                "[[sources.s.requests]]\nkey = \"k\"\nurl = \"URL/k\"\ncapture = { a = \"/a\", b = \"/b\", c = \"/c\" }\n"
                    + "[[sources.s.requests]]\nurl = \"http://${capture:a}${capture:b}/?c=${capture:c}\"\n"
                    + "parser = \"ItemsParser\"\n")
            let source = try #require(configuration[source: "s"])
            let service = try fixture.service("", clock: fixture.clock)
            var resolver = RequestResolver(
                environment: service.environment, captured: ["a": "127.0", "b": ".0.1", "c": "3"],
                stack: source.requests, startedAt: fixture.clock.now())
            resolver.provenances = ["a": provenance, "b": other, "c": other]
            #expect(
                try resolver.resolve(source.requests[1]).provenance
                    == AddressProvenance(namer: provenance.namer, origin: nil, from: nil))
            resolver.provenances = ["a": provenance, "b": provenance, "c": other]
            #expect(try resolver.resolve(source.requests[1]).provenance == provenance)
            try service.store.close()
        }
    }

    // MARK: - Names that change

    private func request(_ fixture: EngineFixture, _ url: String, provenance: AddressProvenance?) throws
        -> RequestDeclaration
    {
        var request = try #require(
            try fixture.configuration(EngineFixture.request("/a"))[source: "s"]?.requests.first)
        request.url = InterpolatedText(url)
        request.provenance = provenance
        return request
    }

    /// DNS says a public address when it is asked first, and this machine's when it is asked again to connect: the
    /// connection's address counts, and no byte is sent to it.
    @Test func theAddressThatIsConnectedToIsTheOneThatIsChecked() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items)
            let names = FakeNames(known: ["localhost": ["203.0.113.9"]])
            let fetcher = HTTPFetcher(now: { Date() }, names: names)
            let provenance = AddressProvenance(
                namer: "a redirect", origin: "http://public.test:80", from: IPAddress(literal: "203.0.113.9"))
            let url = "http://localhost:\(fixture.server.port)/a"
            // A request that is declared makes a connection, which is kept, and is not used for what is named.
            let declared = try await fetcher.fetch(
                request(fixture, url, provenance: nil), ExchangeContext(), validators: .init(), movedTo: nil)
            #expect(declared.response.status == 200)
            #expect(declared.from?.isLoopback == true)
            try await declared.forEachPiece { _ in }
            for _ in 0..<2 {
                let refused = try request(fixture, url, provenance: provenance)
                await #expect {
                    try await fetcher.fetch(refused, ExchangeContext(), validators: .init(), movedTo: nil)
                } throws: { error in
                    "\(error)".contains("a redirect leads to \(url.dropLast(2)) (127.0.0.1, loopback)")
                        || "\(error)".contains("a redirect leads to \(url.dropLast(2)) (::1, loopback)")
                }
            }
            #expect(fixture.server.requests("/a").count == 1)
            // The connection, or another one, still serves what is declared.
            let again = try await fetcher.fetch(
                request(fixture, url, provenance: nil), ExchangeContext(), validators: .init(), movedTo: nil)
            #expect(again.response.status == 200)
            try await again.forEachPiece { _ in }
            try await fetcher.shutdown()
        }
    }

    @Test func aPageOfAPublicHostWhoseNameNowLeadsInsideIsRefused() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items)
            let fetcher = HTTPFetcher(now: { Date() }, names: FakeNames(known: [:]))
            // The same origin as the page before, whose address was public.
            let origin = "http://localhost:\(fixture.server.port)"
            let provenance = AddressProvenance(
                namer: "'next' of page 1", origin: Origin(origin), from: IPAddress(literal: "203.0.113.9"))
            let page = try request(fixture, origin + "/a", provenance: provenance)
            await #expect {
                try await fetcher.fetch(page, ExchangeContext(), validators: .init(), movedTo: nil)
            } throws: { error in
                "\(error)".contains("'next' of page 1 leads to \(origin)")
            }
            #expect(fixture.server.requests("/a").isEmpty)
            try await fetcher.shutdown()
        }
    }

    /// A permanent redirect is stored, and then asked at once.
    @Test func anAddressToWhichAFeedHasMovedIsCheckedToo() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items)
            let fetcher = HTTPFetcher(now: { Date() }, names: Self.names)
            let moved = try request(fixture, "http://public.test/a", provenance: nil)
            for (url, address) in [
                (fixture.server.url, "loopback"), ("http://inside.test:80", "10.0.0.7, private"),
            ] {
                await #expect {
                    try await fetcher.fetch(moved, ExchangeContext(), validators: .init(), movedTo: url + "/a")
                } throws: { error in
                    "\(error)".contains("the permanent redirect of http://public.test/a leads to \(url) (\(address))")
                }
            }
            try await fetcher.shutdown()
        }
    }

    /// Whose address it was that named a public one does not matter: nobody looks it up at each poll.
    @Test func aMovedFeedIsAskedWithoutLookingUpItsFormerHost() async throws {
        try await EngineFixture.with { (fixture) async throws in
            fixture.server.document("/a", Self.items)
            let names = CountedNames(known: ["old.test": ["127.0.0.1"], "new.test": ["203.0.113.9"]])
            let fetcher = HTTPFetcher(now: { Date() }, names: names)
            let moved = try request(fixture, "http://old.test/a", provenance: nil)
            // Nobody is at that address, and nobody has to be asked who was at the former one.
            _ = try? await fetcher.fetch(
                moved, ExchangeContext(), validators: .init(), movedTo: "http://new.test:\(fixture.server.port)/a")
            #expect(names.asked == ["new.test"])
            // From this machine to this machine.
            let own = fixture.server.url + "/a"
            let exchange = try await fetcher.fetch(moved, ExchangeContext(), validators: .init(), movedTo: own)
            #expect(exchange.response.status == 200)
            #expect(names.asked == ["new.test", "old.test"])
            try await exchange.forEachPiece { _ in }
            try await fetcher.shutdown()
        }
    }

    /// Names whose addresses a test decides, and which were asked for.
    private final class CountedNames: NameLookup {
        private let known: [String: [String]]
        private let names = Mutex<[String]>([])

        init(known: [String: [String]]) { self.known = known }

        var asked: [String] { names.withLock(\.self) }

        func addresses(of host: String) async throws -> [IPAddress] {
            names.withLock { $0.append(host) }
            return (known[host] ?? []).compactMap { IPAddress(literal: $0) }
        }
    }

    @Test func whatRowsMayLeadToDependsOnAllThatAnswered() {
        let inside = IPAddress(literal: "10.0.0.7")
        func admits(_ from: String?, _ address: String) -> Bool {
            let provenance = AddressProvenance(
                namer: "", origin: "http://a:80", from: from.flatMap { IPAddress(literal: $0) })
            return IPAddress(literal: address).map(provenance.admits) ?? false
        }
        #expect(admits("127.0.0.1", "::1") && admits("10.0.0.7", "::ffff:10.0.0.7") && admits("10.0.0.7", "1.1.1.1"))
        #expect(!admits("10.0.0.7", "10.0.0.8") && !admits("127.0.0.1", "10.0.0.7") && !admits(nil, "127.0.0.1"))
        let provenance = AddressProvenance(namer: "", origin: "http://inside.test:80", from: inside)
        #expect(provenance.admitsAll(of: "https://inside.test:443"))
        #expect(!provenance.admitsAll(of: "http://other.test:80"))
        let publicLead = AddressProvenance(namer: "", origin: "http://a:80", from: IPAddress(literal: "1.1.1.1"))
        #expect(!publicLead.admitsAll(of: "http://a:80"))
    }

    @Test func theKeyIsReadForSourcesAndDefaults() async throws {
        try await EngineFixture.with { (fixture) async throws in
            let sources = ["a", "b"].map { EngineFixture.request("/a", of: $0) }.joined()
            let text = "[defaults]\nallow_private = true\n[sources.b]\nallow_private = false\n"
            let configuration = try fixture.configuration(text + sources)
            #expect(configuration.sources.map { $0.requests[0].allowsPrivate } == [true, false])
            // It is tried again at once.
            let other = try fixture.configuration("[sources.b]\nallow_private = true\n" + sources)
            #expect(configuration[source: "b"]?.identity != other[source: "b"]?.identity)
        }
        try await EngineFixture.expectMistake(
            "[sources.s]\nallow_private = \"yes\"\n" + EngineFixture.request("/a"), "expected true or false")
    }
}
