import FeedConfiguration
import FeedModel
import Foundation
import NIOHTTP1

/// The signature of a message without a body for a store of buckets (Amazon S3 API Reference, "Authenticating Requests:
/// Using the Authorization Header", AWS Signature Version 4).
struct RequestSignature {
    private static let algorithm = "AWS4-HMAC-SHA256"
    private static let emptyDigest = SHA256.digest(of: [UInt8]()).hexadecimal

    let access: BucketAccess
    /// The time of the message. Stores refuse one that differs from theirs by more than 15 minutes.
    let time: Date

    /// Adds the headers by which the store knows the sender; none without keys.
    func sign(_ method: String, _ url: URL, _ headers: inout HTTPHeaders) {
        guard let keys = access.keys else { return }
        let stamp = time.formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted, timeZone: .gmt))
        let day = String(stamp.prefix(8))
        headers.replaceOrAdd(name: "Host", value: Self.host(of: url))
        headers.replaceOrAdd(name: "x-amz-date", value: stamp)
        headers.replaceOrAdd(name: "x-amz-content-sha256", value: Self.emptyDigest)
        if let token = keys.sessionToken { headers.replaceOrAdd(name: "x-amz-security-token", value: token.value) }
        let signed = Self.signed(headers)
        let names = signed.map(\.name).joined(separator: ";")
        let request = [
            method, Self.path(of: url), Self.query(of: url), signed.map { "\($0.name):\($0.value)\n" }.joined(), names,
            Self.emptyDigest,
        ].joined(separator: "\n")
        let scope = "\(day)/\(access.region)/s3/aws4_request"
        let text = [Self.algorithm, stamp, scope, SHA256.digest(of: Array(request.utf8)).hexadecimal]
            .joined(separator: "\n")
        let signature = [day, access.region, "s3", "aws4_request", text].reduce(
            Array("AWS4\(keys.secretKey.value)".utf8)
        ) { HMAC.code(of: Array($1.utf8), key: $0) }
        headers.replaceOrAdd(
            name: "Authorization",
            value: "\(Self.algorithm) Credential=\(keys.accessKey.value)/\(scope), SignedHeaders=\(names), "
                + "Signature=\(signature.hexadecimal)")
    }

    /// Returns the host as a message names it: with a port other than that of the scheme.
    private static func host(of url: URL) -> String {
        let isUsual = url.port == nil || url.port == (url.scheme == "https" ? 443 : 80)
        return url.hostBeforePort + (isUsual ? "" : ":\(url.port ?? 0)")
    }

    /// Returns the headers that are signed, by their names. Servers on the way may change the others.
    private static func signed(_ headers: HTTPHeaders) -> [(name: String, value: String)] {
        let names = Set(
            headers.map { $0.name.lowercased() }.filter { $0 == "host" || $0 == "range" || $0.hasPrefix("x-amz-") })
        return names.sorted().map { name in
            (name, headers[name].map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: ","))
        }
    }

    private static func path(of url: URL) -> String {
        let path = url.path(percentEncoded: true)
        return path.isEmpty ? "/" : path
    }

    /// Returns the parameters by their names, each with a value.
    private static func query(of url: URL) -> String {
        let pairs = url.query(percentEncoded: true)?.split(separator: "&").map { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: parts[0], value: parts.dropFirst().first ?? "")
        }
        return (pairs ?? []).sorted { ($0.name, $0.value) < ($1.name, $1.value) }.map { "\($0.name)=\($0.value)" }
            .joined(separator: "&")
    }
}
