import FeedDeclarations
import FeedModel
import FeedStores
import Foundation
import Hummingbird
import TributaryEngine

/// What would change, for programs, and its doing: exactly what was shown, or nothing.
extension API {
    private static let mostShown = 1_000

    var correctionOperations: [APIOperation] {
        let source = APIOperation.Parameter("source", "The name of a source.")
        let limit = APIOperation.Parameter(
            "limit", "The most changes of a table and kind: 100; at most 1,000.", .integer)
        let apply = APIOperation.Parameter(
            "apply", "The 'digest' of the answer without it: makes exactly these changes.")
        return [
            .post(
                "/api/plan", "What a refresh would change, as 'plan --json'. Commits nothing.",
                [source, .init("full", "true to fetch everything, changed or not.", .boolean), limit]
            ) { _, query in try await plan(query) },
            .post(
                "/api/undo",
                "What it would change to bring a source's rows back, and its 'digest'; with 'apply', does it.",
                [
                    source,
                    .init("to", "The run or time after which the rows were right; before the last change without it."),
                    limit, apply,
                ]
            ) { _, query in try await correct(query) { .undo(try UndoRun.Target(written: query["to"])) } },
            .post(
                "/api/replay", "What the kept bodies would change, and its 'digest'; with 'apply', does it.",
                [source, .init("all", "true to read the older bodies first.", .boolean), limit, apply]
            ) { _, query in try await correct(query) { .replay(all: try query.flag("all")) } },
        ]
    }

    var trialOperations: [APIOperation] {
        guard let tryOut else { return [] }
        return [
            .post(
                "/api/try",
                "The tables that a document would become, their first rows, and the TOML that declares them.",
                [
                    .init("url", "The address of the document: http: or https:."),
                    .init("toml", "A source with one request, as in sources.toml; inferred without it."),
                ]
            ) { _, query in
                guard let url = query["url"] else { throw Query.Problem("name the document as ?url=ADDRESS") }
                return .json(try JSONOutput.line(try await tryOut(.address(url), query["toml"])))
            }
        ]
    }

    private func plan(_ query: Query) async throws -> Response {
        guard let name = try declared(query).first, let source = service.configuration[source: name] else {
            throw Query.Problem("name the source as ?source=NAME")
        }
        let limit = try query.number("limit", upTo: Self.mostShown) ?? 100
        let (stack, review) = try await service.plan(source, ignoresValidators: try query.flag("full"))
        return .json(
            try JSONOutput.line(PlanOutput(source: name, plan: stack, report: PlanReport(review, limit: limit))))
    }

    private func correct(_ query: Query, _ correction: () throws -> Correction) async throws -> Response {
        guard let source = query["source"] else { throw Query.Problem("name the source as ?source=NAME") }
        let limit = try query.number("limit", upTo: Self.mostShown) ?? 100
        let correction = try correction()
        let isThere = try await store.read { store in try self.isKnown(source, in: store) }
        guard isThere else { throw Query.Problem.noSource(source) }
        if let digest = query["apply"] {
            let report = try await service.apply(correction, of: source, shown: digest)
            return .json(try JSONOutput.line(report))
        }
        let plan = try await service.plan(correction, of: source)
        return .json(try JSONOutput.line(Self.output(plan, of: source, limit: limit)))
    }

    private static func output(_ plan: CorrectionPlan, of source: String, limit: Int) -> PlanOutput {
        var output =
            switch plan.content {
            case .rows(let review, let stack?):
                PlanOutput(source: source, plan: stack, report: PlanReport(review, limit: limit))
            case .rows(let review, nil):
                PlanOutput(source: source, counts: plan.counts, report: PlanReport(review, limit: limit))
            case .purge: PlanOutput(source: source, counts: plan.counts, report: PlanReport(limit: limit))
            }
        output.digest = plan.digest
        return output
    }
}
