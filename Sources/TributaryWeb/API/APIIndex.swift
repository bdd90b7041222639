import FeedModel
import HTTPTypes

/// The list of what programs can ask, at `/api`.
struct APIIndex: Encodable {
    private struct Parameter: Encodable {
        var name: String
        var type: String
        var meaning: String
    }

    private struct Operation: Encodable {
        var method: String
        var path: String
        var summary: String
        var parameters: [Parameter]
    }

    private var version = TributaryVersion.version
    private var openapi = "/api/openapi.json"
    private var operations: [Operation]

    init(_ operations: [APIOperation]) {
        self.operations = operations.map { operation in
            Operation(
                method: operation.method.rawValue, path: operation.path, summary: operation.summary,
                parameters: operation.parameters.map {
                    Parameter(name: $0.name, type: $0.kind.rawValue, meaning: $0.meaning)
                })
        }
    }
}
