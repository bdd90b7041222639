import FeedConfiguration
import FeedModel
import FeedStores
import Foundation
import Hummingbird
import TributaryEngine

/// What would change, for programs, and its doing: exactly what was shown, or nothing.
extension API {
    private static let mostShown = 1_000

    var correctionOperations: [APIOperation] {
        let source = APIParameter("source", "The name of a source.")
        let limit = APIParameter(
            "limit", "The maximum number of changes per table and kind: 100 by default, at most 1,000.", .integer)
        let apply = APIParameter(
            "apply", "The 'digest' of a response without 'apply': makes exactly its changes.")
        let full = APIParameter("full", "true to fetch everything, even if unchanged.", .boolean)
        let planning = APIOperation(
            .post, "/api/plan", "The changes that a refresh would make, as 'plan --json'; commits nothing.",
            [source, full, limit], plan)
        return [planning]
            + CorrectionOperation.all.compactMap { operation in
                guard let summary = operation.summary else { return nil }
                let parameters = [source, operation.parameter, limit, apply].compactMap(\.self)
                return .init(.post, "/api/\(operation.name)", summary, parameters) { try await correct(operation, $0) }
            }
    }

    var trialOperations: [APIOperation] {
        guard let tryOut else { return [] }
        return [
            .init(
                .post, "/api/try",
                "The tables of a document, their first rows, and the TOML that declares them.",
                [
                    .init("url", "The address of the document: http: or https:."),
                    .init("toml", "A source with one request, as in sources.toml; inferred if absent."),
                ]
            ) { query in
                guard let url = query["url"] else { throw Query.Problem("name the document as ?url=ADDRESS") }
                return try .object(await tryOut(.address(url), query["toml"]))
            }
        ]
    }

    /// The most rows of a review in one answer.
    private static var mostReviewed: Int { 10_000 }

    /// What blocked runs would change.
    func review(_ query: Query) async throws -> Response {
        let number = try query.number("run").map(Int64.init)
        let part = try ChangePart(query)
        let limit = try query.number("limit", upTo: Self.mostReviewed) ?? 100
        let configuration = service.configuration
        return try await read { store in
            guard let number else {
                let names = try store.read { try $0.sources.all() }.values.filter(\.isBlocked).map(\.source).sorted()
                let runs = try store.read { ledger in try names.compactMap { try ledger.runs.blocked(of: $0) } }
                return [
                    "blocked": runs.map { run -> JSONObject in
                        ["run": run.number ?? 0, "source": run.source, "counts": configuration.blockedCounts(of: run)]
                    }
                ]
            }
            guard let run = try store.read({ try $0.runs.run(number) }),
                try configuration.waitingRun(for: number, of: run.source, in: store) != nil,
                let review = configuration.review(of: run).map(self.shown)
            else {
                throw Query.Problem("run \(number) is not blocked, or this daemon cannot show its changes", .notFound)
            }
            // The first row has the number 1.
            let rows = part.rows(of: review).dropFirst(max(0, part.from - 1))
            let object: JSONObject = [
                "run": number, "source": run.source, "counts": review.total, "tables": review.tables,
                // The number of changed rows that are in the totals alone.
                "omitted": review.omitted, "rows": Array(rows.prefix(limit)),
            ]
            return ["blocked": [object]]
        }
    }

    private func plan(_ query: Query) async throws -> Response {
        let name = try sources(query, mayBeAll: false)[0]
        guard let source = service.configuration[source: name] else { throw Query.Problem.noSource(name) }
        let limit = try query.number("limit", upTo: Self.mostShown) ?? 100
        let (stack, review) = try await service.plan(source, ignoresValidators: try query.flag("full"))
        return try .object(
            JSONObject(planOf: name, stack.counts, PlanReport(shown(review), limit: limit), stack: stack))
    }

    /// Returns a review with the rows that may be shown.
    private func shown(_ review: ChangeReview) -> ChangeReview { showsRows ? review : review.totals }

    private func correct(_ operation: CorrectionOperation, _ query: Query) async throws -> Response {
        guard let source = query["source"] else { throw Query.Problem("name the source as ?source=NAME") }
        let limit = try query.number("limit", upTo: Self.mostShown) ?? 100
        let correction = try operation.correction(query)
        guard try await store.read({ [service] _ in try service.isKnown(source) }) else {
            throw Query.Problem.noSource(source)
        }
        if let digest = query["apply"] {
            return try .object(await service.apply(correction, of: source, shown: digest))
        }
        return try .object(object(await service.plan(correction, of: source), of: source, limit: limit))
    }

    private func object(_ plan: CorrectionPlan, of source: String, limit: Int) -> JSONObject {
        var object =
            switch plan.content {
            case .rows(let review, let stack):
                JSONObject(planOf: source, plan.counts, PlanReport(shown(review), limit: limit), stack: stack)
            case .purge: JSONObject(planOf: source, plan.counts, PlanReport(limit: limit))
            }
        object["digest"] = plan.digest
        return object
    }
}
