import FeedConfiguration
import FeedModel
import Foundation
import XMLStream

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
