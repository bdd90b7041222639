import FeedConfiguration
import FeedModel
import Foundation
import TestEngine
import TestStores
import TestSupport
import Testing
@testable import FeedFetching
@testable import TributaryEngine

/// Requests whose documents are objects of a store of buckets.
@Suite(.timeLimit(.minutes(5))) struct BucketTests {
    private static func sources(
        _ place: String = "/in/*.xml", _ options: String = "", auth: String = BucketFixture.auth
    ) -> String {
        """
        [[sources.s.requests]]
        url = "s3://reports\(place)"
        \(auth)
        \(options)
        """ + DocumentsTests.tables
    }

    private static func document(_ sku: Int, _ name: String) -> String { "<l><a sku='\(sku)' name='\(name)'/></l>" }

    /// Runs a body with a store of buckets that has some objects.
    private func withBucket(_ body: (EngineFixture, BucketFixture) async throws -> Void) async throws {
        try await EngineFixture.with { (fixture) async throws in
            let bucket = BucketFixture(fixture.server)
            bucket.put(Self.document(1, "A"), to: "in/a b+ü&.xml")
            bucket.put(Tar.compressed(Self.document(2, "B"), .gzip), to: "in/b.xml.gz")
            bucket.put(Self.document(3, "C"), to: "in/c.xml")
            bucket.put(Self.document(4, "D"), to: "in/deep/er/d.xml")
            bucket.put("not XML", to: "in/e.txt")
            bucket.put("half of ", to: "in/.f.xml")
            bucket.put("", to: "in/deep/")
            try await body(fixture, bucket)
        }
    }

    private func sync(
        _ fixture: EngineFixture, _ sources: String, environment: [String: String] = BucketFixture.environment
    ) async throws -> RunReport {
        try #require(await fixture.sync(sources, environment: environment).first)
    }

    // MARK: - Listings

    @Test(.onEachStore) func theObjectsOfAListingAreOneCommit() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let report = try await sync(fixture, Self.sources("/in/*.xml*"))
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            let rows = ["1|A|a b+ü&.xml", "2|B|b.xml.gz", "3|C|c.xml"]
            #expect(try fixture.rows(DocumentsTests.rows) == rows)
            let first = bucket.asked
            #expect(
                first == ["LIST in/", "LIST in/", "LIST in/", "GET in/a b+ü&.xml", "GET in/b.xml.gz", "GET in/c.xml"])
            // The ETags tell an unchanged listing: no object is read.
            bucket.date("in/c.xml", Date(timeIntervalSince1970: 1_791_000_000))
            #expect(try await sync(fixture, Self.sources("/in/*.xml*")).outcome == .unchanged)
            #expect(bucket.asked.dropFirst(first.count).allSatisfy { $0.hasPrefix("LIST") })
            bucket.put(Self.document(3, "other"), to: "in/c.xml")
            #expect(try await sync(fixture, Self.sources("/in/*.xml*")).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == rows.dropLast() + ["3|other|c.xml"])
            // The other objects are those of the last commit.
            #expect(bucket.asked.filter { $0.hasPrefix("GET") }.dropFirst(3) == ["GET in/c.xml"])
        }
    }

    @Test(arguments: [("/in/**/*.xml", ""), ("/in/", "documents = \"**/*.xml\"")])
    func subfoldersAreListed(place: String, options: String) async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.encodeKeys(false)
            let report = try await sync(fixture, Self.sources(place, options))
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
            #expect(try fixture.rows(DocumentsTests.rows) == ["1|A|a b+ü&.xml", "3|C|c.xml", "4|D|deep/er/d.xml"])
        }
    }

    @Test func theBeginningOfAPatternIsPartOfThePrefix() async throws {
        try await withBucket { (fixture, bucket) async throws in
            #expect(try await sync(fixture, Self.sources("/in/c*")).outcome == .committed)
            #expect(bucket.asked == ["LIST in/c", "GET in/c.xml"])
        }
    }

    @Test func oldObjectsAreLeftOut() async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.date("in/c.xml", Date())
            #expect(try await sync(fixture, Self.sources("/in/*", "newer_than = \"1d\"")).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows) == ["3|C|c.xml"])
        }
    }

    @Test func anObjectThatChangesMeanwhileDiscardsTheRun() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let text = Self.document(3, "Z")
            bucket.answer("in/c.xml", StubServer.response(200, text, ["ETag": "\"other\""]))
            let report = try await sync(fixture, Self.sources())
            #expect(
                report.error?.contains("'c.xml' in the bucket changed while the listing was read") == true, "\(report)")
            bucket.answer("in/c.xml", StubServer.response(200, text + " "))
            #expect(try await sync(fixture, Self.sources()).error?.contains("'c.xml' in the bucket changed") == true)
            bucket.answer("in/c.xml", BucketFixture.error(404, "NoSuchKey", "x"))
            #expect(try await sync(fixture, Self.sources()).error?.contains("'c.xml' in the bucket changed") == true)
            #expect(try fixture.rows("SELECT name FROM sqlite_schema WHERE name = 'article'") == [])
        }
    }

    @Test func aListingThatDoesNotEndDiscardsTheRun() async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.repeatPages()
            let report = try await sync(fixture, Self.sources())
            #expect(report.error?.contains("the listing does not end") == true, "\(report)")
        }
    }

    @Test func aListingWithoutAMatchNamesWhatItHolds() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let report = try await sync(fixture, Self.sources("/in/*.csv"))
            #expect(
                report.error?.contains("matches '*.csv'; it holds 'a b+ü&.xml', 'b.xml.gz', 'c.xml'") == true,
                "\(report)")
            // What is no complete listing says nothing about objects.
            let answers = [
                ("<html>a page</html", "the store's answer cannot be read"),
                ("<html>a page</html>", "the body is an HTML page"),
                ("<other/>", "is no listing of a bucket, but a document 'other'"),
                (
                    "<ListBucketResult><IsTruncated>true</IsTruncated></ListBucketResult>",
                    "the listing ends in the middle"
                ),
                (
                    "<ListBucketResult><Contents><Key>in/c.xml</Key></Contents></ListBucketResult>",
                    "an object without a key of the folder"
                ),
            ]
            for (text, expected) in answers {
                bucket.answer("", StubServer.response(200, text))
                let report = try await sync(fixture, Self.sources("/in/*.xml", "allow_empty = true"))
                #expect(report.error?.contains(expected) == true, "\(report)")
            }
        }
    }

    // MARK: - One object

    @Test func anObjectIsConditional() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/c.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            #expect(fixture.server.requests().last?.headers["if-none-match"] != nil)
            #expect(bucket.asked == ["GET in/c.xml", "GET in/c.xml"])
            bucket.put(Self.document(5, "E"), to: "in/c.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            bucket.remove("in/c.xml")
            #expect(try await sync(fixture, sources).error?.contains("404 Not Found") == true)
        }
    }

    @Test func objectsOfPublicBucketsNeedNoKey() async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.makePublic()
            let auth = "auth = { s3 = { endpoint = \"URL/\" } }"
            let report = try await sync(fixture, Self.sources(auth: auth))
            #expect(report.outcome == .committed, "\(String(describing: report.error))")
        }
    }

    @Test func headersForTheStoreAreSigned() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/c.xml", "headers = { x-amz-request-payer = \"requester\" }")
            #expect(try await sync(fixture, sources).outcome == .committed)
            let sent = try #require(fixture.server.requests().last)
            #expect(sent.headers["x-amz-request-payer"] == "requester")
        }
    }

    // MARK: - Errors

    @Test func aRefusalIsToldInTheStoresWords() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let wrong = try await sync(fixture, Self.sources(), environment: ["SECRET": "a-wrong-secret"])
            let error = try #require(wrong.error)
            #expect(error.contains("403 Forbidden: SignatureDoesNotMatch (The request signature"), "\(error)")
            #expect(error.contains("check the request's 'auth.s3'") && !error.contains("a-wrong-secret"), "\(error)")
            let elsewhere = BucketFixture.auth.replacing("endpoint", with: "region = \"eu-central-1\", endpoint")
            let region = try await sync(fixture, Self.sources(auth: elsewhere)).error ?? ""
            #expect(region.contains("another region: set auth.s3.region to 'us-east-1'"), "\(region)")
            // A store may repeat what it was sent.
            bucket.answer("in/c.xml", BucketFixture.error(403, "AccessDenied", BucketFixture.secretKey))
            let echoed = try await sync(fixture, Self.sources()).error ?? ""
            #expect(
                echoed.contains("AccessDenied ([secret])") && !echoed.contains(BucketFixture.secretKey), "\(echoed)")
        }
    }

    @Test func aRedirectIsNotFollowed() async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.answer(
                "in/c.xml",
                StubServer.response(
                    307, "", ["Location": "\(fixture.server.url)/elsewhere", "x-amz-bucket-region": "eu-west-1"]))
            let report = try await sync(fixture, Self.sources("/in/c.xml"))
            #expect(report.error?.contains("set auth.s3.region to 'eu-west-1'") == true, "\(report)")
            #expect(fixture.server.requests("/elsewhere").isEmpty)
        }
    }

    /// A wait that a store requests while a listing is read counts for the next run, as after any other answer.
    @Test(arguments: ["", "in/c.xml"]) func aBusyStoreIsLeftAlone(key: String) async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.answer(key, StubServer.response(503, "", ["Retry-After": "3600"]))
            let report = try await sync(fixture, Self.sources())
            #expect(report.error?.contains("503 Service Unavailable") == true, "\(report)")
            let asked = bucket.asked.count
            let again = try await sync(fixture, Self.sources())
            #expect(again.outcome != .committed && bucket.asked.count == asked, "\(again)")
        }
    }

    // MARK: - After the commit

    @Test func objectsAreDeletedAfterTheirCommit() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/**/*.xml", "after_commit = \"delete\"")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.keys == ["in/.f.xml", "in/b.xml.gz", "in/deep/", "in/e.txt"])
            // No object is no error.
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            bucket.put(Self.document(5, "E"), to: "in/c.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(try fixture.rows(DocumentsTests.rows).count == 4)
        }
    }

    /// Its rows may have been changed since the former one was deleted.
    @Test func aLaterObjectOfTheSameBytesIsRead() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/*.xml", "after_commit = \"delete\"")
            #expect(try await sync(fixture, sources).outcome == .committed)
            try fixture.store.execute("UPDATE article SET name = 'changed' WHERE sku = 3")
            bucket.put(Self.document(3, "C"), to: "in/c.xml")
            bucket.date("in/c.xml", Date(timeIntervalSince1970: 1_790_000_100))
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.text("in/c.xml") == nil)
            #expect(try fixture.rows("SELECT name FROM article WHERE sku = 3") == ["C"])
        }
    }

    @Test func aMoveReplacesNoObject() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/*.xml", "after_commit = { move = \"done/old/\" }")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.text("in/done/old/c.xml") == Self.document(3, "C"))
            #expect(bucket.text("in/done/old/a b+ü&.xml") == Self.document(1, "A") && bucket.text("in/c.xml") == nil)
            bucket.put(Self.document(5, "E"), to: "in/c.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.text("in/done/old/c.xml") == Self.document(3, "C"))
            #expect(bucket.text("in/done/old/c.xml.20260921T141320Z") == Self.document(5, "E"))
            // Both names are taken: the object stays, and the next run tells it.
            bucket.put(Self.document(6, "F"), to: "in/c.xml")
            #expect(try await sync(fixture, sources).outcome == .committed)
            let report = try await sync(fixture, sources)
            #expect(report.error?.contains("there is a file of its name and time") == true, "\(report)")
            #expect(bucket.text("in/c.xml") == Self.document(6, "F"))
        }
    }

    /// An object with the same bytes that was put after the deletion is new.
    @Test func aSingleObjectIsDeletedAndReadAgain() async throws {
        try await withBucket { (fixture, bucket) async throws in
            let sources = Self.sources("/in/c.xml", "after_commit = \"delete\"")
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.text("in/c.xml") == nil)
            #expect(try await sync(fixture, sources).outcome == .unchanged)
            bucket.put(Self.document(3, "C"), to: "in/c.xml")
            bucket.date("in/c.xml", Date(timeIntervalSince1970: 1_791_000_000))
            #expect(try await sync(fixture, sources).outcome == .committed)
            #expect(bucket.text("in/c.xml") == nil)
            // A bucket that is gone is no object that is done.
            bucket.answer("in/c.xml", BucketFixture.error(404, "NoSuchBucket", "x"))
            #expect(try await sync(fixture, sources).error?.contains("404 Not Found: NoSuchBucket (x)") == true)
        }
    }

    @Test func aChangedObjectStays() async throws {
        try await withBucket { (fixture, bucket) async throws in
            bucket.answer("in/c.xml", BucketFixture.error(403, "AccessDenied", "x"))
            let sources = Self.sources("/in/", "documents = \"c.xml\"")
            #expect(try await sync(fixture, sources).outcome == .discarded)
            bucket.answer("in/c.xml", nil)
            var request = try #require(
                try fixture.configuration(sources, environment: BucketFixture.environment)[source: "s"]?.requests.first)
            request.afterCommit = .delete
            let fetcher = HTTPFetcher(now: { Date() })
            let prepared = try request.prepare()
            let exchange = try await fetcher.fetcher(for: prepared.target).fetch(
                prepared, ExchangeContext(), validators: Validators(), movedTo: nil)
            bucket.put("other bytes", to: "in/c.xml")
            try await exchange.files?.finish(ExchangeContext())
            #expect(bucket.text("in/c.xml") == "other bytes")
            try await fetcher.shutdown()
        }
    }
}
