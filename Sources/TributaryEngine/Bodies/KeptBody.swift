import FeedFetching
import FeedModel
import Foundation

/// The metadata of a kept body. It has no secrets: neither the request's address nor its headers, and only those of the
/// response's headers that mappings use.
struct KeptBody: Codable, Sendable {
    /// A fingerprint of the request.
    var question: String
    var fetchedAt: Date
    var contentType: String?
    var lastModified: String?
    /// The base of relative references; see ``FeedResponse/baseURL``.
    var baseURL: String?
    /// The address as declared, if it depends on a row or a response.
    var requestedURL: String?
    /// Values for columns that are not in the document; nil for NULL.
    var given: [String: String?]

    /// Returns the head of a response with this body.
    ///
    /// - Parameter declared: the currently declared address.
    func response(declared: String) -> FeedResponse {
        var response = FeedResponse(
            requestedURL: requestedURL ?? declared, url: baseURL ?? requestedURL ?? declared, status: 200,
            headers: [("Content-Type", contentType), ("Last-Modified", lastModified)].compactMap { name, value in
                value.map { (name: name, value: $0) }
            }, fetchedAt: fetchedAt, validators: Validators())
        response.baseURL = baseURL
        return response
    }
}

/// The bodies of one request in one run, in their order.
struct KeptBodies {
    private let path: String
    private var reader: BodyFileReader

    /// - Throws: ``StoreError`` if the file does not exist.
    init(path: String) throws {
        self.path = path
        do {
            reader = try BodyFileReader(FileHandle(forReadingFrom: URL(fileURLWithPath: path)))
        } catch {
            throw StoreError(.unavailable, "the kept body \(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns the next body, unread; nil after the last.
    ///
    /// - Throws: ``StoreError``
    mutating func next(declared: String) throws -> (body: KeptBody, exchange: Exchange)? {
        do {
            guard let (head, range) = try reader.next() else { return nil }
            let body = try JSONDecoder().decode(KeptBody.self, from: head)
            return (body, Exchange.kept(body.response(declared: declared), reader.file, range))
        } catch {
            throw StoreError(.unavailable, "the kept body \(path) cannot be read: \(ErrorText.words(error))")
        }
    }
}
