import FeedModel
import FeedStaging
import FeedStores
import SQLiteStore
import Foundation
import TestEngine
import Testing
import XMLStream
@testable import FeedConfiguration
@testable import FeedFetching
@testable import TributaryEngine

/// Numbers and dates of header fields, however large.
@Suite struct HTTPSecondsTests {
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private static let week: Double = 7 * 86_400

    private func response(_ headers: [(name: String, value: String)]) -> FeedResponse {
        FeedResponse(
            requestedURL: "u", url: "u", status: 503, headers: headers, fetchedAt: Self.now, validators: Validators())
    }

    @Test(
        arguments: [
            ("120", 120), ("99999999999999999999999999", week), (String(repeating: "9", count: 400), week),
            ("18446744073709551616", week), ("9223372036854775807", week), ("inf", nil), ("nan", nil), ("-1", nil),
            ("0", nil),
            ("1e9", nil), ("0x10", nil), ("", nil), ("Fri, 31 Dec 9999 23:59:59 GMT", week),
            ("Mon, 01 Jan 0001 00:00:00 GMT", nil), ("Fri, 31 Dec 99999999999 23:59:59 GMT", nil),
        ] as [(String, Double?)])
    func retryAfter(text: String, expected: Double?) {
        let end = RetryAfter.end(of: response([("Retry-After", text)]), at: Self.now)
        #expect(end?.timeIntervalSince(Self.now) == expected)
    }

    @Test(arguments: ["99999999999999999999", "inf", "nan", "-inf", "1e400", "-99999999999999999999", "0x1p1023"])
    func freshness(text: String) {
        for headers in [
            [("Cache-Control", "max-age=\(text)")], [("Cache-Control", "max-age=60"), ("Age", text)],
            [("Expires", text)], [("Expires", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Date", text)],
            [("Expires", "Fri, 31 Dec 9999 23:59:59 GMT"), ("Date", "Mon, 01 Jan 0001 00:00:00 GMT"), ("Age", text)],
        ] {
            let end = Freshness.end(of: response(headers.map { (name: $0.0, value: $0.1) }), at: Self.now)
            #expect((end ?? Self.now) >= Self.now && (end ?? Self.now) <= Self.now + 365 * 86_400)
        }
    }

    @Test func aClockFarOff() {
        for seconds in [-1e17, -62_135_596_800, 0, 253_402_300_799, 1e17] {
            let now = Date(timeIntervalSince1970: seconds)
            #expect(RetryAfter.end(of: response([("Retry-After", "60")]), at: now).map { $0 >= now } == true)
            _ = Freshness.end(of: response([("Expires", "Fri, 31 Dec 9999 23:59:59 GMT")]), at: now)
        }
    }

    private var request: RequestDeclaration {
        RequestDeclaration(
            key: "k", url: InterpolatedText("http://h/"), timeout: .seconds(1),
            transport: Transport(connectTimeout: .seconds(1)), maxBody: 1, content: .mirrored)
    }

    @Test func pagesAreCountedNoFurtherThanThereAreNumbers() throws {
        var request = request
        let paging = PagingDeclaration(
            next: .counter(parameter: "p", start: .max - 1, step: .max), maxPages: .max)
        request.paging = paging
        var pages = PageSequence(paging)
        let next = try #require(try pages.next(after: request, .at("http://h/"), records: 1, found: nil))
        #expect(next.parameters["p"]?.value == String(Int.max))
    }

    /// A port that is the scheme's own makes no other origin (RFC 6454, section 4).
    @Test(arguments: [
        ("https://h/", "https://h:443/2", true), ("https://h:443/", "/2", true), ("http://H:80/", "http://h/2", true),
        ("http://h/", "http://h:443/2", false), ("https://h/", "https://h:80/2", false),
        ("http://h/", "https://h/2", false),
    ])
    func theNextPageMayNameTheDefaultPort(page: String, next: String, isFollowed: Bool) throws {
        let paging = PagingDeclaration(next: .path(try XMLPathParser.parse("/r/next"), written: "/r/next"), maxPages: 9)
        func following() throws -> RequestDeclaration? {
            var pages = PageSequence(paging)
            return try pages.next(after: request, .at(page), records: 1, found: next)
        }
        if isFollowed {
            #expect(try following()?.url.value.hasSuffix("/2") == true)
        } else {
            #expect(throws: FetchError.self) { try following() }
        }
    }
}
