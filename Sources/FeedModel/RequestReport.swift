/// The result of one request of a run.
public struct RequestReport: Sendable, Codable, Equatable {
    public var key: String
    /// The HTTP status, or nil if no response came.
    public var status: Int?
    public var outcome: RequestOutcome
    /// Bytes of the body, after decompression; of an archive of documents, its own.
    public var bytes: Int
    public var seconds: Double
    /// A remark on its documents, such as a further page that it does not follow.
    public var note: String?

    public init(key: String, status: Int? = nil, outcome: RequestOutcome, bytes: Int = 0, seconds: Double = 0) {
        self.key = key
        self.status = status
        self.outcome = outcome
        self.bytes = bytes
        self.seconds = seconds
    }

    /// Adds a remark.
    package mutating func add(_ remark: String) {
        note = [note, remark].compactMap(\.self).joined(separator: "; ")
    }

    private enum CodingKeys: String, CodingKey { case key, status, outcome, bytes, seconds, note }

    /// Writes `status` even if it is null, so that every object has the same keys.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(key, forKey: .key)
        try container.encode(status, forKey: .status)
        try container.encode(outcome, forKey: .outcome)
        try container.encode(bytes, forKey: .bytes)
        try container.encode(seconds, forKey: .seconds)
        try container.encodeIfPresent(note, forKey: .note)
    }
}

/// The outcome of one request of a run.
public enum RequestOutcome: String, Sendable, Codable, CaseIterable {
    /// Its body was parsed into rows.
    case parsed
    /// Its body gave only values for other requests.
    case captured
    /// The server answered 304, or the body has the same bytes as the last one.
    case unchanged
    case failed
    /// It was not sent, because an earlier one failed.
    case skipped
}

/// A path of elements or an attribute that no mapping uses, or a column that found nothing.
package struct UnmatchedPath: Sendable, Encodable {
    package var request: String
    package var path: String
    package var count: Int

    package init(request: String, path: String, count: Int) {
        self.request = request
        self.path = path
        self.count = count
    }
}
