import FeedFetching
import FeedModel
import Foundation

/// What is known of a kept body: only what may stand in the store, too. Neither the address that was asked nor a header
/// that was sent, and of the response's headers those that mappings use.
struct KeptBody: Codable, Sendable {
    /// A fingerprint of what was asked.
    var question: String
    var fetchedAt: Date
    var contentType: String?
    var lastModified: String?
    /// The base of relative references; see ``FeedResponse/baseURL``.
    var baseURL: String?
    /// The address as it is declared, where a row or a response decided which it was.
    var requestedURL: String?
    /// Values that columns take and that no document holds; nil for NULL.
    var given: [String: String?]

    /// Returns the head of a response with this body.
    ///
    /// - Parameter declared: the address as it is declared now.
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

/// The bodies of one request and one run, in their order.
struct KeptBodies {
    private let path: String
    private var reader: BodyFileReader

    /// - Throws: ``StoreError`` where there is no such file.
    init(path: String) throws {
        self.path = path
        do {
            reader = try BodyFileReader(FileHandle(forReadingFrom: URL(fileURLWithPath: path)))
        } catch {
            throw StoreError(.unavailable, "the kept body \(path) cannot be read: \(error.localizedDescription)")
        }
    }

    /// Returns the next body, still to be read; nil behind the last.
    ///
    /// - Throws: ``StoreError``
    mutating func next(declared: String) throws -> (body: KeptBody, exchange: Exchange)? {
        do {
            guard let (head, range) = try reader.next() else { return nil }
            let body = try JSONDecoder().decode(KeptBody.self, from: head)
            return (body, Exchange.part(body.response(declared: declared), reader.file, range))
        } catch {
            throw StoreError(.unavailable, "the kept body \(path) cannot be read: \(ErrorText.words(error))")
        }
    }
}
