import FeedModel
import Foundation
import NIOHTTP1
import Testing
@testable import FeedFetching
@testable import FeedConfiguration

/// Signatures of Amazon's published examples (Amazon S3 API Reference, "Examples: Signature Calculations in AWS Signature
/// Version 4").
@Suite struct BucketSignatureTests {
    private static let access = BucketAccess(
        keys: BucketAccess.Keys(
            accessKey: InterpolatedText("AKIAIOSFODNN7EXAMPLE"),
            secretKey: InterpolatedText("wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY")))
    /// 24 May 2013, 0:00 UTC.
    private static let time = Date(timeIntervalSince1970: 1_369_353_600)

    private static func signed(
        _ address: String, _ headers: [(String, String)] = [], _ access: BucketAccess = access
    ) throws -> HTTPHeaders {
        var headers = HTTPHeaders(headers)
        RequestSignature(access: access, time: time).sign("GET", try #require(URL(string: address)), &headers)
        return headers
    }

    @Test func anObjectWithARange() throws {
        let headers = try Self.signed(
            "https://examplebucket.s3.amazonaws.com/test.txt", [("Range", "bytes=0-9"), ("User-Agent", "not signed")])
        #expect(
            headers["Authorization"] == [
                "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                    + "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
                    + "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
            ])
        #expect(headers["x-amz-date"] == ["20130524T000000Z"])
        #expect(headers["Host"] == ["examplebucket.s3.amazonaws.com"])
    }

    @Test(arguments: ["max-keys=2&prefix=J", "prefix=J&max-keys=2"]) func aListing(query: String) throws {
        let headers = try Self.signed("https://examplebucket.s3.amazonaws.com/?\(query)")
        #expect(
            headers.first(name: "Authorization")?.hasSuffix(
                "Signature=34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7") == true)
    }

    @Test func aParameterWithoutAValue() throws {
        let headers = try Self.signed("https://examplebucket.s3.amazonaws.com/?lifecycle")
        #expect(
            headers.first(name: "Authorization")?.hasSuffix(
                "Signature=fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543") == true)
    }

    @Test func aSessionTokenIsSigned() throws {
        var access = Self.access
        access.keys?.sessionToken = InterpolatedText("temporary")
        let headers = try Self.signed("http://127.0.0.1:9000/b/k", [], access)
        #expect(headers["x-amz-security-token"] == ["temporary"])
        #expect(headers["Host"] == ["127.0.0.1:9000"])
        #expect(headers.first(name: "Authorization")?.contains("x-amz-date;x-amz-security-token, ") == true)
    }

    @Test func nothingIsAddedWithoutKeys() throws {
        #expect(try Self.signed("https://examplebucket.s3.amazonaws.com/test.txt", [], BucketAccess()).isEmpty)
    }
}
