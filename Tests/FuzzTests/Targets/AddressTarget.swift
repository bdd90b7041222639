import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Addresses that responses name. The first line of an input is the request's own, the second where it is sent instead.
final class AddressTarget: FuzzTarget {
    private let request: RequestDeclaration

    init() throws {
        let toml = """
            [[sources.s.requests]]
            url = "http://feeds.test/feed"
            parser = "SitemapParser"
            parameters = { active = "true" }
            page = { next = "/list/next/@href" }
            """
        request = try FuzzFolder().configuration(toml.utf8).sources[0].requests[0]
    }

    func run(_ input: [UInt8]) throws -> Bool {
        let end = input.firstIndex(of: 0x0A) ?? input.count
        let address = String(decoding: input[..<end], as: UTF8.self)
        let location = String(decoding: input.dropFirst(end + 1), as: UTF8.self)
        var asked = request
        asked.url = InterpolatedText(address)
        var isTaken = false
        _ = try refusal {
            let target = HTTPTarget(try asked.prepare())
            _ = target.origin
            for status in [301, 303, 308] {
                isTaken =
                    try accepts {
                        guard let next = try target.redirected(by: status, to: location, request: "GET") else {
                            throw FuzzFinding("a redirect that leads nowhere")
                        }
                        try expectUsable(next.url)
                    } || isTaken
            }
        }
        _ = try refusal {
            var pages = request.paging.map { PageSequence($0) }
            let next = try pages?.next(
                after: request, FuzzFolder.response(at: "http://feeds.test/feed?page=1"), records: 1, found: location)
            guard let next else { return }
            isTaken = true
            guard let url = URL(string: next.url.value), url.host?.lowercased() == "feeds.test", url.port == nil else {
                throw FuzzFinding("the next page is at \(next.url.value)")
            }
        }
        return isTaken
    }

    /// What the client can ask without a trap: it checks neither.
    private func expectUsable(_ url: URL) throws {
        guard ["http", "https"].contains(url.scheme?.lowercased()),
            url.port.map((0...65535).contains) ?? true
        else {
            throw FuzzFinding("\(url) is followed")
        }
    }
}
