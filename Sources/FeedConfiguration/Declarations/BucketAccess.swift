/// A store of buckets, and the keys by which it knows the sender of a request.
public struct BucketAccess: Sendable, Hashable {
    package struct Keys: Sendable, Hashable {
        package var accessKey: InterpolatedText
        package var secretKey: InterpolatedText
        /// The token of temporary keys.
        package var sessionToken: InterpolatedText?

        package init(accessKey: InterpolatedText, secretKey: InterpolatedText, sessionToken: InterpolatedText? = nil) {
            (self.accessKey, self.secretKey, self.sessionToken) = (accessKey, secretKey, sessionToken)
        }
    }

    package static let defaultRegion = "us-east-1"

    /// Nil for requests that are not signed, as for public objects.
    package var keys: Keys?
    package var region: String
    /// The address of a store other than Amazon's, without a `/` at its end; nil for Amazon's.
    package var endpoint: String?

    package init(keys: Keys? = nil, region: String = defaultRegion, endpoint: String? = nil) {
        (self.keys, self.region, self.endpoint) = (keys, region, endpoint)
    }

    /// The secrets, and the access key, which names the user.
    var texts: [InterpolatedText] {
        keys.map { [$0.accessKey, $0.secretKey] + [$0.sessionToken].compactMap(\.self) } ?? []
    }

    /// Returns the address of a bucket, without a `/` at its end.
    func address(of bucket: String) -> String {
        if let endpoint { return "\(endpoint)/\(bucket)" }
        let host = "s3.\(region).amazonaws.com" + (region.hasPrefix("cn-") ? ".cn" : "")
        // Amazon's certificate is for hosts with one label before its own name.
        let isLabel = bucket.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
            default: false
            }
        }
        return isLabel ? "https://\(bucket).\(host)" : "https://\(host)/\(bucket)"
    }
}
