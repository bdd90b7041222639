import FeedModel
import Foundation

/// A row of `tributary_request` as it is handed over, many in one parameter: an array of JSON objects whose names are
/// the columns'.
struct RequestRecord: Encodable {
    var state: RequestState
    /// The version of the claims when the request's tables or scope last changed.
    var claim: Int64

    /// The columns with their types, for `jsonb_to_recordset`.
    static let columns = [
        ("key", "text"), ("etag", "text"), ("last_modified", "text"), ("fingerprint", "text"), ("tables", "text[]"),
        ("sync", "text"), ("scope", "jsonb"), ("digest", "text"), ("moved_to", "text"), ("moved_times", "bigint"),
        ("schema", "text"), ("bodies", "text"), ("claim", "bigint"),
    ]

    private enum CodingKeys: String, CodingKey {
        case key, etag, fingerprint, tables, sync, scope, digest, schema, bodies, claim
        case lastModified = "last_modified"
        case movedTo = "moved_to"
        case movedTimes = "moved_times"
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(state.key, forKey: .key)
        try container.encode(state.validators.etag, forKey: .etag)
        try container.encode(state.validators.lastModified, forKey: .lastModified)
        try container.encode(state.fingerprint, forKey: .fingerprint)
        try container.encode(state.tables.sorted(), forKey: .tables)
        try container.encode(state.sync.rawValue, forKey: .sync)
        try container.encode(state.scope, forKey: .scope)
        try container.encode(state.digest, forKey: .digest)
        try container.encode(state.movedTo, forKey: .movedTo)
        try container.encode(state.movedTimes, forKey: .movedTimes)
        try container.encode(state.schema, forKey: .schema)
        try container.encode(
            state.bodies.isEmpty ? nil : state.bodies.joined(separator: " "), forKey: .bodies)
        try container.encode(claim, forKey: .claim)
    }

    static func json(_ requests: [RequestRecord]) throws -> String {
        String(decoding: try JSONEncoder().encode(requests), as: UTF8.self)
    }
}
