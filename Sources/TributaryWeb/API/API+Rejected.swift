import FeedModel
import FeedStores
import Hummingbird
import TributaryEngine

/// The records that runs have left out.
extension API {
    private struct Rejected: Encodable {
        var rejected: [RejectedRow]
        /// The id after which the next records come; nil at the end.
        var next: Int64?

        private enum CodingKeys: String, CodingKey { case rejected, next }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(rejected, forKey: .rejected)
            try container.encode(next, forKey: .next)
        }
    }

    /// The most records in one answer, each of up to 64 KiB.
    private static let mostRejected = 100

    func rejected(_ query: Query) async throws -> Response {
        let (source, run) = (query["source"], try query.number("run").map(Int64.init))
        let after = try query.number("after").map(Int64.init) ?? 0
        let limit = try query.number("limit", upTo: Self.mostRejected) ?? Self.mostRejected
        return try await read { [service] store in
            if let source, try !service.isKnown(source) { throw Query.Problem.noSource(source) }
            let found = try store.read {
                try $0.rejections.records(of: source, run: run, after: after, limit: limit + 1)
            }
            let rejected = Array(found.prefix(limit))
            return Rejected(rejected: rejected, next: found.count > limit ? rejected.last?.id : nil)
        }
    }
}
