/// A store of buckets, and the keys by which it knows the sender of a request.
public struct BucketAccess: Sendable, Hashable {
    package struct Keys: Sendable, Hashable {
        package var accessKey: InterpolatedText
        package var secretKey: InterpolatedText
        /// The token of temporary keys.
        package var sessionToken: InterpolatedText?
    }

    package static let defaultRegion = "us-east-1"

    /// Nil for requests that are not signed, as for public objects.
    package var keys: Keys?
    package var region = BucketAccess.defaultRegion
    /// The address of a store other than Amazon's, without a `/` at its end; nil for Amazon's.
    package var endpoint: String?

    /// The secrets, and the access key, which names the user.
    var texts: [InterpolatedText] {
        keys.map { [$0.accessKey, $0.secretKey] + [$0.sessionToken].compactMap(\.self) } ?? []
    }

    /// Returns the address of a bucket, without a `/` at its end.
    func address(of bucket: String) -> String {
        if let endpoint { return "\(endpoint)/\(bucket)" }
        let host = "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
        // Amazon's certificate is for hosts with one label before its own name.
        let isLabel =
            bucket == bucket.lowercased() && bucket.utf8.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "-") }
        return isLabel ? "https://\(bucket).\(host)" : "https://\(host)/\(bucket)"
    }
}
