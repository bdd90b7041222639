import FeedFetching
import FeedModel
import FeedStores
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

/// The documents of a blocked run. After `accept`, the next run commits them without a request.
struct BlockedRun: Codable, Sendable {
    struct Request: Codable, Sendable {
        var key: String
        /// The name of its kept bodies; nil if it was unchanged, or only captures values.
        var bodies: String?
        var validators = Validators()
        var digest: String?
        var movedTo: String?
        var movedTimes = 0
    }

    var startedAt: Date
    /// The identity of the declaration that the run followed.
    var declared: String
    var requests: [Request]
    /// The exceeded limits; nil in a file of an earlier release.
    var exceeded: [ExceededLimit]?
    /// A digest of the changes that its commit would have made; nil if unknown.
    var shown: ChangeDigest?
    /// The counts of these changes.
    var counts: MergeCounts?

    /// The starts of the blocked runs before it that had the same documents and changes, the last of them; nil in a file
    /// of an earlier release.
    var earlier: [Date]?

    /// The most earlier runs that are known.
    private static let mostEarlier = 100

    /// Returns true if a recorded run is this one.
    func isRecorded(as run: RunReport) -> Bool { Self.began(run, at: startedAt) }

    /// Returns true if a recorded run is this one, or had the same documents and changes.
    func holds(for run: RunReport) -> Bool {
        isRecorded(as: run) || run.outcome == .blocked && earlier?.contains { Self.began(run, at: $0) } == true
    }

    private static func began(_ run: RunReport, at start: Date) -> Bool {
        // Stores keep milliseconds.
        abs(run.startedAt.timeIntervalSince(start)) < 0.002
    }

    /// Notes a run that had the same documents and changes.
    mutating func follow(_ former: BlockedRun) {
        earlier = ((former.earlier ?? []) + [former.startedAt]).suffix(Self.mostEarlier)
    }

    /// Returns true if another run had the same documents, and would have changed the same rows.
    func isSame(as other: BlockedRun) -> Bool {
        declared == other.declared && requests.count == other.requests.count && shown == other.shown
            && ExceededLimit.areEqual(exceeded ?? [], other.exceeded ?? [])
            && zip(requests, other.requests).allSatisfy { request, other in
                switch (request.bodies, other.bodies) {
                case (let bodies?, let others?): request.key == other.key && BodyFolder.holdTheSame(bodies, others)
                case (nil, nil): request.key == other.key
                default: false
                }
            }
    }
}

/// The kept bodies that a run reads in place of responses.
struct KeptStack: Sendable {
    /// The names of the bodies by the requests' keys, the oldest first.
    var names: [String: [String]]
    /// The blocked run that was accepted; nil for a replay.
    var blocked: BlockedRun?

    func request(_ key: String) -> BlockedRun.Request? { blocked?.requests.first { $0.key == key } }
}
