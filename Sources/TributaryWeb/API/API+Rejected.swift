import FeedModel
import FeedStores
import Hummingbird
import TributaryEngine

/// The records that runs have left out.
extension API {
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
            // The id after which the next records come; null at the end.
            let next = found.count > limit ? rejected.last?.id : nil
            return ["rejected": rejected, "next": next.orNull] as JSONObject
        }
    }
}
