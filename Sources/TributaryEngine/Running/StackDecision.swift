import FeedStore
import Foundation

/// What a run does next, as far as that follows from what it knows: pure functions.
enum StackDecision {
    /// A request that answered 304 although another request of the stack, which mirrors one of its tables in the same
    /// scope, has changed: its rows must be there, too, before anything is deleted.
    static func unchangedRequestToRepeat(_ requests: [RequestDeclaration], _ results: [RequestResult]) -> Int? {
        let parsed = requests.indices.filter { results[$0].report.outcome == "parsed" && requests[$0].mirrors }
        return requests.indices.first { index in
            guard results[index].report.outcome == "unchanged", let state = results[index].state else { return false }
            return parsed.contains { other in
                let tables = results[other].state?.tables ?? []
                return tables.contains { state.tables.contains($0) && requests[other].mirrors($0) }
                    && requests[index].scope.mayShareRows(with: requests[other].scope)
            }
        }
    }

    /// Another source that mirrors the same rows would delete ours, and we its.
    ///
    /// - Parameter others: the requests of other sources that have written such rows.
    /// - Throws: ``StoreError`` with both requests' names.
    static func checkMirror(
        of rows: MirroredRows, by source: SourceDeclaration, others: [RequestID], configuration: TributaryConfiguration
    ) throws {
        for other in others {
            guard let declaration = configuration[source: other.source], declaration.isEnabled,
                let rival = declaration.requests.first(where: { $0.key == other.key }), rival.mirrors(rows.table),
                rows.scope.mayShareRows(with: rival.scope),
                let request = source.requests.first(where: { $0.mirrors(rows.table) && $0.scope == rows.scope })
            else { continue }
            throw StoreError(
                .conflict,
                "table '\(rows.table)' is mirrored by request '\(request.key)' of source '\(source.name)' and by request "
                    + "'\(rival.key)' of source '\(other.source)', and each would delete the other's rows; "
                    + "give both a scope of their own")
        }
    }

    /// What a status that is neither 200 nor 304 means for the person who must act.
    static func refusal(_ status: Int) -> String {
        let reason = HTTPReason.phrase(status)
        switch status {
        case 401, 403: return "the server answered \(status) \(reason); check the request's credentials"
        case 404: return "the server answered 404 Not Found; check the request's url"
        case 410: return "the server answered 410 Gone; the feed is no more, and the source can be removed"
        case 429, 503: return "the server answered \(status) \(reason); it is asked again later"
        case 304: return "the server answered 304 Not Modified to a request that was not conditional"
        default: return "the server answered \(status) \(reason), where 200 or 304 was expected"
        }
    }
}
