import FeedModel
import Foundation
import TestEngine
import Testing
@testable import FeedFetching
@testable import FeedConfiguration

/// `s3:` addresses, and where their objects are.
@Suite struct BucketAddressTests {
    private static func address(_ text: String, _ access: BucketAccess = BucketAccess()) throws -> BucketAddress {
        try BucketAddress(text, access)
    }

    @Test func partsOfAnAddress() throws {
        let object = try Self.address("S3://reports/in/a%20b%23.xml")
        #expect(object.bucket == "reports" && object.key == "in/a b#.xml" && object.folder == "in/")
        #expect(object.pattern == nil && !object.isFolder)
        let folder = try Self.address("s3://reports/in/2026-*.xml")
        #expect(folder.key == "in/" && folder.pattern?.text == "2026-*.xml" && folder.isFolder)
        let deep = try Self.address("s3://reports/in/*/b/**")
        #expect(deep.key == "in/" && deep.pattern?.text == "*/b/**")
        for text in ["s3://reports", "s3://reports/"] {
            let all = try Self.address(text)
            #expect(all.key == "" && all.isFolder && all.folder == "")
        }
    }

    @Test(arguments: [
        ("s3://", "it names no host"), ("s3://reports/a?b", "write %3F"),
        ("s3://reports:9000/a", "auth.s3.endpoint"), ("s3://me@reports/a", "user or password"),
        ("s3://reports/../a", "'..'"), ("s3://reports/a%2Fb", "an encoded '/'"), ("s3://reports/%FF", "not in UTF-8"),
        ("s3://reports/" + String(repeating: "k", count: 1_025), "more than 1024 bytes"),
        ("s3://reports/a%0Ab", "control character"), ("http://reports/a", "it is not an s3: URL"),
    ])
    func addressesThatCannotBeUsed(text: String, expected: String) {
        #expect {
            try Self.address(text)
        } throws: { error in
            "\(error)".contains(expected)
        }
    }

    @Test func placesOfObjects() throws {
        func url(_ text: String, _ region: String = "eu-central-1", _ endpoint: String? = nil) throws -> String {
            try Self.address(text, BucketAccess(region: region, endpoint: endpoint)).url.absoluteString
        }
        #expect(try url("s3://reports/in/a.xml") == "https://reports.s3.eu-central-1.amazonaws.com/in/a.xml")
        #expect(try url("s3://my.reports/a+b.xml") == "https://s3.eu-central-1.amazonaws.com/my.reports/a%2Bb.xml")
        #expect(
            try url("s3://reports/ü//b", "cn-north-1") == "https://reports.s3.cn-north-1.amazonaws.com.cn/%C3%BC//b")
        #expect(try url("s3://reports/a", "auto", "http://minio:9000") == "http://minio:9000/reports/a")
        #expect(
            try Self.address("s3://reports/in/").listing(of: "in/a b", isDeep: false, after: "t=").absoluteString
                == "https://reports.s3.us-east-1.amazonaws.com/?continuation-token=t%3D&delimiter=%2F&encoding-type=url"
                + "&list-type=2&prefix=in%2Fa%20b")
    }

    @Test(arguments: [
        ("s3://b/a.xml", "auth = { bearer = \"t\" }", "auth: an s3: address takes 's3'"),
        ("https://b.example/a.xml", "auth = { s3 = {} }", "auth: 's3' requires an s3: address"),
        ("sftp://b.example/a.xml", "auth = { s3 = {} }", "auth: 's3' requires an s3: address"),
        ("s3://b/a.xml", "auth = { s3 = { access_key = \"a\" } }", "auth.s3.access_key: requires 'secret_key'"),
        ("s3://b/a.xml", "auth = { s3 = { region = \"EU\" } }", "'EU' is not the name of a region"),
        ("s3://b/a.xml", "auth = { s3 = { endpoint = \"minio\" } }", "endpoint: 'minio' cannot be used"),
        ("s3://b/a.xml", "method = \"POST\"", "method: has no effect with an s3: address"),
        ("s3://b/a.xml", "known_hosts = \"sources.toml\"", "known_hosts: has no effect with an s3: address"),
        ("s3://b/in/", "", "url: names a folder; add documents = \"*.xml\" for the files in it, or"),
        ("s3://b/a.xml", "newer_than = \"1d\"", "newer_than: requires a folder's address"),
        ("s3://b/*.xml", "after_commit = \"delete\"\nsync = \"mirror\"", "after_commit: a mirror of the files"),
        ("s3://b/*.xml", "after_commit = { move = \"/done\" }", "after_commit.move: '/done' is absolute"),
    ])
    func mistakes(url: String, options: String, expected: String) async throws {
        try await EngineFixture.expectMistake(
            "[[sources.s.requests]]\nurl = \"\(url)\"\nparser = \"ItemsParser\"\n\(options)\n", expected)
    }
}
