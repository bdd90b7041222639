import FeedConfiguration
import FeedModel
import Foundation
import XMLStream

/// The objects of a bucket whose keys match a pattern, at the time of the listing. As in a folder, names that begin with a
/// dot are skipped, also those of subfolders.
struct BucketListing: Sendable {
    /// The most pages. Stores choose the number of objects on a page.
    static let pageLimit = 1_000
    private static let tokenLimit = 4_096

    struct Object: ListedFile, Equatable {
        /// The key from the folder on.
        var path: [UInt8]
        var size: Int
        /// The time of the last change, in seconds since 1970.
        var modified: Int
        /// Changes with the object's bytes.
        var etag: String

        /// True to tell the object from a later one of the same bytes, whose rows may have been changed meanwhile.
        var tellsLater = false

        var version: String { tellsLater ? "\(etag) \(modified)" : etag }

        /// Returns true for the ETag of the same bytes, as a header has it.
        func isSame(_ etag: String) -> Bool {
            func opaque(_ text: String) -> Substring { text.drop { "W/\"".contains($0) }.prefix { $0 != "\"" } }
            return opaque(etag) == opaque(self.etag)
        }
    }

    let folder: String
    let pattern: MemberPattern
    /// The time in seconds since 1970 before which objects are omitted; nil for none.
    let oldest: Int?
    /// True where objects are deleted or moved, so that a later one may take an object's name.
    let tellsLater: Bool
    /// The objects that match, in the order of their keys' bytes.
    private(set) var objects: [Object] = []
    /// Some names of objects that do not match, or are too old.
    private(set) var others: [String] = []
    private var count = 0
    private var pages = 0
    private var token = ""

    init(_ folder: String, _ pattern: MemberPattern, oldest: Int?, tellsLater: Bool) {
        (self.folder, self.pattern, self.oldest, self.tellsLater) = (folder, pattern, oldest, tellsLater)
    }

    /// Adds the objects of a page.
    ///
    /// - Returns: the token of the next page; nil after the last.
    /// - Throws: ``FetchError`` where the page is not as a listing is, or where there are too many objects.
    mutating func add(_ page: BucketDocument) throws(FetchError) -> String? {
        guard page.root == "ListBucketResult" else {
            throw FetchError(
                .decoding, "the answer is no listing of a bucket, but a document '\(page.root.shortened(to: 100))'")
        }
        pages += 1
        count += page.objects.count
        guard count <= FolderListing.limit else {
            throw FetchError(.tooLarge, "the listing has more than \(FolderListing.limit) objects")
        }
        for entry in page.objects { try add(entry, of: page) }
        guard let token = page.values["NextContinuationToken"], !token.isEmpty else {
            guard page.values["IsTruncated"] != "true" else {
                throw FetchError(.decoding, "the listing ends in the middle: the store does not know ListObjectsV2")
            }
            objects.sort { $0.path.lexicographicallyPrecedes($1.path) }
            return nil
        }
        guard pages < Self.pageLimit else {
            throw FetchError(.tooLarge, "the listing has more than \(Self.pageLimit) pages")
        }
        guard token != self.token, token.utf8.count <= Self.tokenLimit else {
            throw FetchError(
                .decoding,
                "the listing does not end: the token of its next page is that of the last one, or has more than "
                    + "\(Self.tokenLimit) bytes")
        }
        self.token = token
        return token
    }

    private mutating func add(_ entry: [String: String], of page: BucketDocument) throws(FetchError) {
        guard let key = entry["Key"].flatMap(page.key), key.utf8.starts(with: folder.utf8),
            let size = entry["Size"].flatMap({ Int($0) }), size >= 0, let etag = entry["ETag"], !etag.isEmpty,
            let modified = entry["LastModified"].flatMap(HTTPDate.parse)
        else {
            throw FetchError(.decoding, "the listing has an object without a key of the folder, size, time and ETag")
        }
        let name = Array(key.utf8.dropFirst(folder.utf8.count))
        let shown = MemberPattern.name(of: name)
        let parts = shown.split(separator: "/", omittingEmptySubsequences: false)
        // A key with a `/` at its end stands for a folder.
        guard !parts.contains(where: { $0.hasPrefix(".") }), parts.last?.isEmpty == false else { return }
        let seconds = Int(modified.timeIntervalSince1970.rounded(.down))
        guard pattern.matches(shown), seconds >= oldest ?? .min else {
            if others.count < 3 { others.append(shown) }
            return
        }
        guard !name.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw FetchError(.file, "the key '\(shown)' in the bucket has a control character in it")
        }
        guard name.first != UInt8(ascii: "/") else {
            throw FetchError(
                .file,
                "the key '\(folder)\(shown)' in the bucket has an empty part, so that it is no path; rename the object, or "
                    + "declare a pattern that it does not match")
        }
        objects.append(
            Object(path: name, size: size, modified: seconds, etag: etag, tellsLater: tellsLater))
    }
}

/// A document of a store of buckets: a page of a listing (ListObjectsV2), the answer to a copy, or an error.
final class BucketDocument: XMLStreamHandler {
    /// The most bytes of a document, and the most objects. A page of Amazon's has at most 1,000 keys of 1,024 bytes each.
    private static let limit = 8 << 20
    private static let objectLimit = 5_000
    private static let names: Set = [
        "Code", "EncodingType", "IsTruncated", "Message", "NextContinuationToken", "Region",
    ]
    private static let parts: Set = ["ETag", "Key", "LastModified", "Size"]

    /// The name of the root.
    private(set) var root = ""
    /// The texts of the elements below the root that count.
    private(set) var values: [String: String] = [:]
    /// The same of each object.
    private(set) var objects: [[String: String]] = []
    private var isInObject = false

    private override init() {}

    /// Reads the body of a response.
    ///
    /// - Throws: ``FetchError`` if it cannot be received, or is not such a document; `CancellationError`.
    static func read(
        _ exchange: Exchange, of request: PreparedRequest, _ clock: ExchangeClock?
    ) async throws -> BucketDocument {
        let document = BucketDocument()
        let parser = XMLStreamParser(handler: document)
        do {
            let decoder = try BodyDecoder(contentEncoding: exchange.response[header: "Content-Encoding"], limit: limit)
            try await exchange.forEachPiece { try decoder.decode($0) { try parser.parse($0) } }
            try decoder.finish { try parser.parse($0) }
            try parser.finish()
        } catch let error as XMLStreamError {
            throw FetchError(.decoding, "\(request.method) \(request.url): the store's answer cannot be read: \(error)")
        } catch let error as FetchError where error.isTooLarge {
            throw FetchError(
                .tooLarge, "\(request.method) \(request.url): the store's answer has more than \(ByteSize.text(limit))")
        } catch {
            try Task.checkCancellation()
            throw FetchError(client: error, request: request, clock: clock)
        }
        return document
    }

    override func didStartElement(in stream: XMLStreamParser) throws {
        if stream.depth == 1 { root = stream.localName }
        guard stream.depth == 2 else { return }
        isInObject = stream.localName == "Contents"
        guard isInObject else { return }
        guard objects.count < Self.objectLimit else {
            throw FetchError(.decoding, "a page of the listing has more than \(Self.objectLimit) objects")
        }
        objects.append([:])
    }

    override func didEndElement(in stream: XMLStreamParser) {
        let name = stream.localName
        if stream.depth == 2, Self.names.contains(name) {
            values[name] = text(in: stream)
        } else if stream.depth == 3, isInObject, Self.parts.contains(name) {
            objects[objects.count - 1][name] = text(in: stream)
        }
    }

    private func text(in stream: XMLStreamParser) -> String { String(decoding: stream.textBytes, as: UTF8.self) }

    /// Returns a key as it is, also from a page whose keys are encoded as in a form.
    func key(_ text: String) -> String? {
        guard values["EncodingType"] == "url" else { return text }
        return text.replacing("+", with: " ").removingPercentEncoding
    }
}
