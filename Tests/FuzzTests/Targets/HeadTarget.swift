import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
@testable import FeedConfiguration
@testable import FeedFetching
@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// Responses' heads: when to come back, and how the body is to be read.
final class HeadTarget: FuzzTarget {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let day = 86_400.0
    private let source: SourceDeclaration

    init() throws {
        let toml = "[[sources.s.requests]]\nurl = \"http://feeds.test/feed\"\nparser = \"SitemapParser\"\n"
        source = try FuzzFolder().configuration(toml.utf8).sources[0]
    }

    func run(_ input: [UInt8]) throws -> Bool {
        var lines = String(decoding: input, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let status = lines.isEmpty ? 200 : Int(lines.removeFirst()) ?? 200
        let headers = lines.compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            return (String(line[..<colon]), line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces))
        }
        var response = FuzzStore.response(headers)
        response.status = status
        response.validators = Validators(
            etag: response[header: "ETag"], lastModified: response[header: "Last-Modified"])
        try check(Freshness.end(of: response, at: Self.now), days: 366, "fresh")
        try check(RetryAfter.end(of: response, at: Self.now), days: 7, "left alone")
        var hints = PollHints()
        hints.note(response, origin: Origin(scheme: "http", host: "feeds.test", port: 80), at: Self.now)
        for outcome in [RunOutcome.committed, .unchanged, .discarded, .blocked, .cancelled] {
            let state = DueTime.state(
                after: outcome, error: nil, source: source, last: SourceState(source: "s"), startedAt: Self.now,
                now: Self.now, hints: hints, jitter: 0.5)
            if status != 410 { try check(state.nextDue, days: 366, "not due") }
        }
        return try accepts {
            let reader = try BodyReader(response, [], limit: FuzzStore.bodyLimit)
            try forEachPiece(of: Array("<feed>text</feed>".utf8), size: nil) { try reader.read($0) }
            try reader.finish()
        }
    }

    private func check(_ end: Date?, days: Double, _ what: String) throws {
        guard let seconds = end?.timeIntervalSince(Self.now) else { return }
        guard seconds.isFinite, seconds <= days * Self.day + 1 else {
            throw FuzzFinding("\(what) for \(seconds / Self.day) days")
        }
    }
}
