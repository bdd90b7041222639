/// What `EXPLAIN (VERBOSE, FORMAT JSON)` says of a query: from which schemas it reads.
struct QueryPlan: Decodable {
    private struct Node: Decodable {
        var schema: String?
        var plans: [Node]?

        enum CodingKeys: String, CodingKey {
            case schema = "Schema"
            case plans = "Plans"
        }

        var schemas: Set<String> {
            Set(schema.map { [$0] } ?? []).union((plans ?? []).flatMap(\.schemas))
        }
    }

    private var plan: Node

    enum CodingKeys: String, CodingKey {
        case plan = "Plan"
    }

    var schemas: Set<String> { plan.schemas }
}
