import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import TributaryEngine

/// What the commands print with `--json`, and what they do, under their names.
struct API: Sendable {
    let service: SyncService
    let store: StoreQueue
    /// False where `[daemon] rows` is false: then no answer has rows of the store, or changes of them.
    let showsRows: Bool
    /// The places of those who follow events or a page.
    let followers: FollowerLimit
    /// Nil where nothing is tried out.
    let tryOut: TryOut?

    /// The most runs, or changed rows, in one answer.
    private static let mostElements = 10_000

    /// All that can be asked, also for the list of it and the OpenAPI document themselves.
    var operations: [APIOperation] {
        let source = APIParameter("source", "The name of a source.")
        let sources = APIParameter(
            "source", "The name of a source; repeat it for several.", isRepeated: true)
        let states: [APIOperation] = [
            .init(.get, "/api/status", "The states of sources and hooks, as 'status --json'.", [sources]) { query in
                let names = try self.sources(query)
                let (configuration, pauses) = (service.configuration, service.hostPauses)
                return try await read { store in
                    try StoreStatus(
                        configuration, only: names, in: store, pauses: pauses, isDaemonRunning: true, now: Date()
                    ).output(isDaemonRunning: true)
                }
            },
            .init(
                .get, "/api/history", "The last runs, as 'history --json'.",
                [
                    source, .init("failed", "true for failed runs only.", .boolean),
                    .init("limit", "The maximum number of runs: 20 by default, at most 10,000.", .integer),
                ], history),
        ]
        let recorded: [APIOperation] = [
            .init(
                .get, "/api/changes", "Changed rows, as 'changes --json'.",
                [
                    source, .init("run", "The number of a run.", .integer),
                    .init("since", "A time: 2026-11-17, or 2026-11-17T14:30Z."), .init("table", "The name of a table."),
                    .init("after", "The id of a changelog row: returns the rows after it, as 'tail --json'.", .integer),
                    .init("limit", "The maximum number of rows: 1,000 by default, at most 10,000.", .integer),
                ], changes),
            .init(
                .get, "/api/rejected",
                "The records that committed runs have left out (on_error = \"skip\"), as they were read.",
                [
                    source, .init("run", "The number of a run.", .integer),
                    .init("after", "The id of a record: returns the records after it.", .integer),
                    .init("limit", "The maximum number of records: 100 by default and at most.", .integer),
                ], rejected),
        ]
        let others: [APIOperation] = [
            APIOperation(
                method: .get, path: "/api/events", summary: "Each run as it is recorded, as server-sent events.",
                parameters: [
                    sources, .init("after", "The id of an event: starts after it, like the header Last-Event-ID."),
                ], answer: events),
            .init(
                .get, "/api/review",
                "The blocked runs, and the changes that a run would make, the largest differences first.",
                [
                    .init("run", "The number of a blocked run: also returns its tables and rows.", .integer),
                    .init("table", "A table's name."), .init("operation", "insert, update or delete."),
                    .init("from", "The number of the first row: 1 by default.", .integer),
                    .init("limit", "The maximum number of rows: 100 by default, at most 10,000.", .integer),
                ], review),
        ]
        let operators = SourceOperation.all.map { operation in
            APIOperation(.post, "/api/\(operation.name)", operation.summary, [sources] + operation.parameters) {
                query in
                let names = try self.sources(query, mayBeOff: false, mayBeAll: operation.mayBeAll)
                return try .object(
                    await operation.perform(names, query, isOnPage: false, by: service, store).answer)
            }
        }
        return states + (showsRows ? recorded + rowOperations : []) + others + operators + correctionOperations
            + trialOperations
            + [
                .init(.get, "/api", "The operations of the API.") { _ in
                    try .object(JSONObject(indexOf: self.operations))
                },
                .init(.get, "/api/openapi.json", "The operations in OpenAPI 3.1.") { _ in
                    try .object(JSONObject(openAPI: self.operations))
                },
            ]
    }

    func add(to router: Router<PageContext>) {
        for operation in operations {
            router.on(RouterPath(stringLiteral: operation.path), method: operation.method) { request, context in
                try await answer(request) {
                    let query = Query(request)
                    // Of rows, a value may be empty.
                    if !operation.path.hasPrefix("/api/tables/") { try operation.check(query) }
                    return try await operation.answer(request, query, context)
                }
            }
        }
        for method in [HTTPRequest.Method.get, .post] {
            router.on("/api/**", method: method) { request, _ in
                let isOff =
                    !showsRows && method == .get
                    && ["/api/changes", "/api/rejected", "/api/tables"].contains { request.uri.path.hasPrefix($0) }
                return Response.refusal(
                    of: request, .notFound,
                    isOff ? Pages.rowsAreOff : "unknown path; GET /api lists the operations")
            }
        }
    }

    private func answer(_ request: Request, _ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch {
            guard let failure = RequestFailure(error, redactor: service.configuration.redactor) else { throw error }
            return .refusal(of: request, failure.status, failure.message)
        }
    }

    /// Answers with what is read from the store, and encoded on its thread.
    func read<Answer: Encodable & SendableMetatype>(
        _ answer: @escaping @Sendable (any MainStore) throws -> Answer
    ) async throws -> Response {
        .json(try await store.read { try JSONOutput.line(answer($0)) })
    }

    private func history(_ query: Query) async throws -> Response {
        let (source, failed) = (query["source"], try query.flag("failed"))
        let limit = try query.number("limit", upTo: Self.mostElements) ?? 20
        return try await read { [service] store in
            let runs = try store.read { try $0.runs.last(of: source, failed: failed, limit: limit) }
            if let source, runs.isEmpty, try !service.isKnown(source) { throw Query.Problem.noSource(source) }
            return ["runs": runs.map(RunRecord.init)]
        }
    }

    private func changes(_ query: Query) async throws -> Response {
        let limit = try query.number("limit", upTo: Self.mostElements) ?? 1_000
        if let after = query["after"] {
            guard query["run"] == nil, query["since"] == nil, query["table"] == nil else {
                throw Query.Problem("'run', 'since' and 'table' cannot be combined with 'after'")
            }
            return try await changelog(after: after, sources: query.all("source"), limit: limit)
        }
        var asked = ChangeQuery(
            source: query["source"], run: try query.number("run").map(Int64.init), table: query["table"])
        asked.since = try query["since"].map { text in
            guard let date = WrittenTime.date(text) else {
                throw Query.Problem("'since' is not a time; write 2026-11-17, or 2026-11-17T14:30Z")
            }
            return date
        }
        asked = try await store.read { [asked] store in
            var asked = asked
            if let source = asked.source, try !service.isKnown(source) { throw Query.Problem.noSource(source) }
            if asked.run == nil, asked.since == nil {
                asked.run = try store.read { try $0.runs.lastWithHistory(of: asked.source) }
            }
            return asked
        }
        let type = FileFormat.ndjson.contentType
        guard asked.run != nil || asked.since != nil else {
            return Response(status: .ok, headers: [.contentType: type])
        }
        return try await .pieces(of: ChangeLines(asked, limit: limit, in: store), type)
    }

    /// Returns the declared sources that a query names.
    ///
    /// - Parameters:
    ///   - mayBeOff: false where none of them may be disabled.
    ///   - mayBeAll: false where it must name one.
    func sources(_ query: Query, mayBeOff: Bool = true, mayBeAll: Bool = true) throws -> [String] {
        let names = query.all("source")
        guard mayBeAll || !names.isEmpty else { throw Query.Problem("name the source as ?source=NAME") }
        for name in names {
            guard let source = service.configuration[source: name] else { throw Query.Problem.noSource(name) }
            guard mayBeOff || source.isEnabled else {
                throw Query.Problem("source '\(name)' is disabled (enabled = false)", .conflict)
            }
        }
        return names
    }
}
