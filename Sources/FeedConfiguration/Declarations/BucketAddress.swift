package import FeedModel
package import Foundation

/// An `s3:` address: of an object in a bucket, or of the objects of a folder whose keys match a pattern.
package struct BucketAddress: Sendable, Equatable {
    /// The most bytes of an object's key.
    package static let keyLimit = 1_024

    package let bucket: String
    package let access: BucketAccess
    /// The key of the object; that of a folder is empty, or ends with a `/`.
    package let key: String
    /// The pattern of the keys from the folder on; nil for an address without `*`.
    package let pattern: MemberPattern?
    /// The URL of ``key`` at the store.
    package let url: URL

    package static func isBucket(_ text: String) -> Bool { text.lowercased().hasPrefix("s3:") }

    /// - Throws: ``Finding``.
    package init(_ text: String, _ access: BucketAccess) throws(Finding) {
        let url = try WebAddress(text, schemes: ["s3"]).url
        guard url.query == nil, url.fragment == nil else {
            throw Finding("it has a '?' or '#' in it", help: "write %3F or %23 in an object's key")
        }
        guard url.port == nil else {
            throw Finding("it has a port", help: "declare the store's address with 'auth.s3.endpoint'")
        }
        guard let bucket = url.host, !bucket.contains(":") else { throw Finding("it names no bucket") }
        let parts = url.path(percentEncoded: true).split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let names = try parts.map { part throws(Finding) in try Self.name(part) }
        let first = parts.firstIndex { $0.contains("*") }.map { $0 - parts.startIndex }
        let folder = first.map { names[..<$0].map { $0 + "/" }.joined() }
        key = folder ?? names.joined(separator: "/")
        pattern = try first.map { place throws(Finding) in
            try MemberPattern(inAddress: names[place...].joined(separator: "/"))
        }
        self.bucket = bucket
        self.access = access
        self.url = try Self.url(of: key, in: bucket, access)
    }

    package var isFolder: Bool { key.isEmpty || key.hasSuffix("/") }

    /// The key of the folder: that of the address, or that in which its object is.
    package var folder: String {
        String(key[..<(key.lastIndex(of: "/").map { key.index(after: $0) } ?? key.startIndex)])
    }

    /// Returns the URL of an object at the store.
    ///
    /// - Throws: ``Finding`` where a key is too long.
    package func url(of key: String) throws(Finding) -> URL { try Self.url(of: key, in: bucket, access) }

    /// Returns the path of an object with that of its bucket, as a copy names its source.
    package func path(of key: String) -> String { "/\(bucket)/\(Self.encoded(key))" }

    /// Returns the URL of a page of a listing (ListObjectsV2).
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the keys.
    ///   - isDeep: true to list the objects of subfolders, too.
    ///   - token: the token in the page before; nil for the first page.
    package func listing(of prefix: String, isDeep: Bool, after token: String?) throws(Finding) -> URL {
        var fields = ["list-type": "2", "encoding-type": "url"]
        if !prefix.isEmpty { fields["prefix"] = prefix }
        if !isDeep { fields["delimiter"] = "/" }
        fields["continuation-token"] = token
        guard let url = URL(string: access.address(of: bucket) + "/?" + PreparedRequest.form(fields)) else {
            throw Self.noURL
        }
        return url
    }

    private static var noURL: Finding { Finding("it is not a URL (RFC 3986)") }

    private static func url(of key: String, in bucket: String, _ access: BucketAccess) throws(Finding) -> URL {
        guard key.utf8.count <= keyLimit else { throw Finding("its key has more than \(keyLimit) bytes") }
        guard let url = URL(string: "\(access.address(of: bucket))/\(encoded(key))") else { throw noURL }
        return url
    }

    /// Returns a key as the path of a URL. Only unreserved characters stand for themselves, as signatures require.
    private static func encoded(_ key: String) -> String {
        key.split(separator: "/", omittingEmptySubsequences: false).map { String($0).percentEncoded }
            .joined(separator: "/")
    }

    /// Returns a part of a key.
    private static func name(_ part: Substring) throws(Finding) -> String {
        guard let name = String(validating: try WebAddress.name(part), as: UTF8.self) else {
            throw Finding("its key is not in UTF-8")
        }
        return name
    }
}
