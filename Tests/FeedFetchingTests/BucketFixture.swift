import FeedConfiguration
import FeedModel
import Foundation
import TestSupport

/// A bucket of a store that speaks S3's protocol as far as Tributary does: signatures, listings in pages, conditions, copies,
/// deletions. It checks signatures by code of its own.
final class BucketFixture: Sendable {
    struct Object {
        var bytes: [UInt8]
        var modified = Date(timeIntervalSince1970: 1_790_000_000)

        /// Equal for equal bytes, as Amazon's.
        var etag: String { "\"\(SHA256.digest(of: bytes).hexadecimal.prefix(32))\"" }
    }

    static let bucket = "reports"
    static let accessKey = "AKIDEXAMPLE"
    static let secretKey = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"

    private struct State {
        var objects: [String: Object] = [:]
        /// Answers in place of those of the store, by key.
        var answers: [String: [StubServer.Step]] = [:]
        var pageSize = 2
        var encodesKeys = true
        /// True where the last page names itself as the next one.
        var repeatsPages = false
        var isPublic = false
    }

    private let server: StubServer
    private let state = Mutex(State())

    init(_ server: StubServer) {
        self.server = server
        server.routeOthers { [self] in answer($0) }
    }

    /// The value of `auth`.
    static let auth =
        "auth = { s3 = { access_key = \"\(accessKey)\", secret_key = \"${SECRET}\", endpoint = \"URL\" } }"
    static let environment = ["SECRET": secretKey]

    func put(_ text: String, to key: String) { put(Array(text.utf8), to: key) }

    func put(_ bytes: [UInt8], to key: String) { state.withLock { $0.objects[key] = Object(bytes: bytes) } }

    func date(_ key: String, _ time: Date) { state.withLock { $0.objects[key]?.modified = time } }

    func remove(_ key: String) { state.withLock { $0.objects[key] = nil } }

    func answer(_ key: String, _ steps: [StubServer.Step]?) { state.withLock { $0.answers[key] = steps } }

    func encodeKeys(_ encodes: Bool) { state.withLock { $0.encodesKeys = encodes } }

    func repeatPages() { state.withLock { $0.repeatsPages = true } }

    func makePublic() { state.withLock { $0.isPublic = true } }

    var keys: [String] { state.withLock { $0.objects.keys.sorted() } }

    func text(_ key: String) -> String? {
        state.withLock { $0.objects[key].map { String(decoding: $0.bytes, as: UTF8.self) } }
    }

    /// What was asked so far: `GET a.xml`, `LIST in/`.
    var asked: [String] {
        server.requests().map { request in
            let key = Self.key(request) ?? ""
            return key.isEmpty ? "LIST \(Self.fields(request)["prefix"] ?? "")" : "\(request.method) \(key)"
        }
    }

    // MARK: - Answers

    private func answer(_ request: StubServer.Request) -> [StubServer.Step] {
        guard let key = Self.key(request) else { return Self.error(404, "NoSuchBucket", "The bucket does not exist") }
        if let refusal = refusal(of: request) { return refusal }
        if let steps = state.withLock({ $0.answers[key] }) { return steps }
        if key.isEmpty { return listing(Self.fields(request)) }
        return state.withLock { state in
            switch request.method {
            case "DELETE":
                state.objects[key] = nil
                return [StubServer.head(204, [:])]
            case "PUT":
                return Self.copy(request, to: key, &state.objects)
            default:
                guard let object = state.objects[key] else {
                    return request.method == "HEAD"
                        ? [StubServer.head(404, [:])] : Self.error(404, "NoSuchKey", "The key does not exist.")
                }
                let headers = ["ETag": object.etag, "Last-Modified": Self.httpDate(object.modified)]
                if request.headers["if-none-match"] == object.etag
                    || request.headers["if-none-match"] == nil
                        && request.headers["if-modified-since"] == Self.httpDate(object.modified)
                {
                    return [StubServer.head(304, headers)]
                }
                if request.method == "HEAD" {
                    return [StubServer.head(200, headers.merging(["Content-Length": "\(object.bytes.count)"]) { $1 })]
                }
                return StubServer.response(200, object.bytes, headers)
            }
        }
    }

    private static func copy(
        _ request: StubServer.Request, to key: String, _ objects: inout [String: Object]
    ) -> [StubServer.Step] {
        let source = request.headers["x-amz-copy-source"]?.removingPercentEncoding ?? ""
        guard source.hasPrefix("/\(bucket)/"), let object = objects[String(source.dropFirst(bucket.count + 2))] else {
            return error(404, "NoSuchKey", "The source does not exist.")
        }
        guard request.headers["x-amz-copy-source-if-match"] == object.etag else {
            return error(412, "PreconditionFailed", "The source has changed.")
        }
        objects[key] = object
        return StubServer.response(200, "<CopyObjectResult><ETag>\(object.etag)</ETag></CopyObjectResult>")
    }

    /// Returns a page of the keys with a prefix; with a delimiter, those of subfolders are left out.
    private func listing(_ fields: [String: String]) -> [StubServer.Step] {
        let state = state.withLock { $0 }
        let prefix = fields["prefix"] ?? ""
        var keys = state.objects.keys.filter { key in
            key.hasPrefix(prefix) && (fields["delimiter"] == nil || !key.dropFirst(prefix.count).contains("/"))
        }.sorted()
        if let token = fields["continuation-token"], !state.repeatsPages {
            keys = keys.filter { "after " + $0 > token }
        }
        let page = keys.prefix(state.pageSize)
        let isEncoded = state.encodesKeys && fields["encoding-type"] == "url"
        let contents = page.map { key in
            let object = state.objects[key]!
            let shown =
                isEncoded
                ? key.percentEncoded.replacing("%2F", with: "/").replacing("%20", with: "+")
                : key.replacing("&", with: "&amp;")
            return """
                <Contents><Key>\(shown)</Key><LastModified>\(object.modified.formatted(.iso8601))</LastModified>
                <ETag>\(object.etag.replacing("\"", with: "&quot;"))</ETag><Size>\(object.bytes.count)</Size>
                <Owner><ID>x</ID></Owner><StorageClass>STANDARD</StorageClass></Contents>
                """
        }
        let isLast = page.count == keys.count && !state.repeatsPages
        let next =
            isLast
            ? ""
            : "<NextContinuationToken>after \((page.last ?? "").replacing("&", with: "&amp;"))</NextContinuationToken>"
        return StubServer.response(
            200,
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>\(Self.bucket)</Name>
            <Prefix>\(prefix)</Prefix><IsTruncated>\(!isLast)</IsTruncated>\(contents.joined())\(next)
            \(isEncoded ? "<EncodingType>url</EncodingType>" : "")
            <CommonPrefixes><Prefix>deep/</Prefix></CommonPrefixes></ListBucketResult>
            """, ["Content-Type": "application/xml"])
    }

    static func error(_ status: Int, _ code: String, _ message: String) -> [StubServer.Step] {
        StubServer.response(
            status,
            "<Error><Code>\(code)</Code><Message>\(message)</Message><RequestId>4442587FB7D0A2F9</RequestId></Error>",
            ["Content-Type": "application/xml"])
    }

    // MARK: - Requests

    private static func key(_ request: StubServer.Request) -> String? {
        guard request.path.hasPrefix("/\(bucket)/") else { return nil }
        return String(request.path.dropFirst(bucket.count + 2)).removingPercentEncoding
    }

    private static func fields(_ request: StubServer.Request) -> [String: String] {
        var fields: [String: String] = [:]
        for pair in request.query.split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1)
            fields[String(parts[0])] = parts.count > 1 ? String(parts[1]).removingPercentEncoding : ""
        }
        return fields
    }

    private static func httpDate(_ time: Date) -> String {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = .gmt
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return format.string(from: time)
    }

    /// Returns the refusal of a request without a valid signature; nil for one with it.
    private func refusal(of request: StubServer.Request) -> [StubServer.Step]? {
        if state.withLock(\.isPublic) {
            return request.headers["authorization"] == nil ? nil : Self.error(400, "InvalidArgument", "It is signed.")
        }
        let form =
            #/AWS4-HMAC-SHA256 Credential=([^\/]+)\/(\d{8})\/([^\/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})/#
        guard let found = request.headers["authorization"]?.wholeMatch(of: form) else {
            return Self.error(403, "AccessDenied", "Access Denied")
        }
        guard found.1 == Self.accessKey else {
            return Self.error(403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist.")
        }
        guard found.3 == "us-east-1" else {
            return StubServer.response(
                400,
                "<Error><Code>AuthorizationHeaderMalformed</Code><Message>The region is wrong</Message>"
                    + "<Region>us-east-1</Region></Error>")
        }
        let names = found.4.split(separator: ";").map(String.init)
        let needed = request.headers.keys.filter { $0 == "host" || $0.hasPrefix("x-amz-") }
        let time = request.headers["x-amz-date"] ?? ""
        guard Set(names).isSuperset(of: needed), time.hasPrefix(found.2) else {
            return Self.error(403, "AccessDenied", "There were headers present in the request which were not signed")
        }
        let query = request.query.split(separator: "&").map { $0.contains("=") ? String($0) : $0 + "=" }.sorted()
        let lines =
            [request.method, request.path, query.joined(separator: "&")]
            + names.map { "\($0):\(request.headers[$0] ?? "")" } + ["", names.joined(separator: ";")]
            + [request.headers["x-amz-content-sha256"] ?? ""]
        let canonical = SHA256.digest(of: Array(lines.joined(separator: "\n").utf8)).hexadecimal
        let text = "AWS4-HMAC-SHA256\n\(time)\n\(found.2)/\(found.3)/s3/aws4_request\n\(canonical)"
        var key = Array("AWS4\(Self.secretKey)".utf8)
        for part in [String(found.2), String(found.3), "s3", "aws4_request", text] {
            key = HMAC.code(of: Array(part.utf8), key: key)
        }
        guard key.hexadecimal == found.5 else {
            return Self.error(403, "SignatureDoesNotMatch", "The request signature we calculated does not match.")
        }
        return nil
    }
}
