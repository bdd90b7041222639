import FeedDeclarations
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

    /// The most runs, or changed rows, in one answer.
    private static let mostElements = 10_000

    func add(to router: Router<BasicRequestContext>) {
        router.get("/api/status") { request, _ in try await answer { try await status(Query(request)) } }
        router.get("/api/history") { request, _ in try await answer { try await history(Query(request)) } }
        router.get("/api/changes") { request, _ in try await answer { try await changes(Query(request)) } }
        router.post("/api/refresh") { request, _ in try await answer { try await refresh(Query(request)) } }
        router.post("/api/accept") { request, _ in try await answer { try await accept(Query(request)) } }
        router.post("/api/release") { request, _ in try await answer { try await release(Query(request)) } }
        let others = router.group("/api")
        others.get("**") { request, _ in
            Response.refusal(of: request, .notFound, "nothing is read here; there are status, history and changes")
        }
        others.post("**") { request, _ in
            Response.refusal(of: request, .notFound, "nothing is done here; there are refresh, accept and release")
        }
    }

    private func answer(_ body: () async throws -> Response) async throws -> Response {
        do {
            return try await body()
        } catch let problem as Query.Problem {
            return .json(try JSONOutput.line(["error": problem.message]), problem.status)
        } catch let refusal as AcceptanceRefusal {
            return .json(try JSONOutput.line(["error": refusal.description]), .conflict)
        } catch let error as StoreError {
            let shown = service.configuration.redactor.redact(error.message)
            return .json(try JSONOutput.line(["error": shown]), .serviceUnavailable)
        }
    }

    private func status(_ query: Query) async throws -> Response {
        try query.check("source")
        let names = try declared(query)
        let configuration = service.configuration
        return .json(
            try await store.read { store in
                try JSONOutput.line(StoreStatus(configuration, only: names, in: store, now: Date()).elements)
            })
    }

    private func history(_ query: Query) async throws -> Response {
        try query.check("source", "failed", "limit")
        let (source, failed) = (query["source"], try query.flag("failed"))
        let limit = try query.number("limit", upTo: Self.mostElements) ?? 20
        return .json(
            try await store.read { store in
                let runs = try store.runs(of: source, failed: failed, limit: limit)
                if let source, runs.isEmpty, try !isKnown(source, in: store) { throw Query.Problem.noSource(source) }
                return try JSONOutput.line(runs.map(RunRecord.init))
            })
    }

    private func changes(_ query: Query) async throws -> Response {
        try query.check("source", "run", "since", "table", "limit")
        var asked = ChangeQuery(
            source: query["source"], run: try query.number("run").map(Int64.init), table: query["table"])
        asked.since = try query["since"].map { text in
            guard let date = WrittenTime.date(text) else {
                throw Query.Problem("'since' is not a time; write 2026-11-17, or 2026-11-17T14:30Z")
            }
            return date
        }
        let limit = try query.number("limit", upTo: Self.mostElements) ?? 1_000
        asked = try await store.read { [asked] store in
            var asked = asked
            if let source = asked.source, try !isKnown(source, in: store) { throw Query.Problem.noSource(source) }
            if asked.run == nil, asked.since == nil { asked.run = try store.lastRunWithHistory(of: asked.source) }
            return asked
        }
        guard asked.run != nil || asked.since != nil else { return .lines(ResponseBody()) }
        let changes = ChangeLines(query: asked, limit: limit, store: store)
        // What cannot be read at all is an error, not an answer that breaks off.
        let first = try await changes.next(after: 0)
        guard !first.isLast else { return .lines(ResponseBody(byteBuffer: ByteBuffer(string: first.text))) }
        return .lines(ResponseBody { writer in try await changes.write(to: &writer, first) })
    }

    private func refresh(_ query: Query) async throws -> Response {
        try query.check("source")
        let names = try enabled(query)
        let asked = names.isEmpty ? service.configuration.enabledSources.map(\.name) : names
        try await store.read { [service] _ in try service.refreshEverywhere(names) }
        return .json(try JSONOutput.line(["sources": asked]))
    }

    private struct Accepted: Encodable {
        var accepted: [String]
        var runs: [Int64]?
        var until: Date
    }

    private func accept(_ query: Query) async throws -> Response {
        try query.check("source", "run", "in_advance")
        let names = try named(query)
        let inAdvance = try query.flag("in_advance")
        let run = try query.number("run").map(Int64.init)
        let accepted = try await store.write { [service] _ in try service.accept(names, inAdvance: inAdvance, run: run)
        }
        return .json(
            try JSONOutput.line(
                Accepted(
                    accepted: names, runs: inAdvance ? nil : accepted.compactMap(\.run),
                    until: accepted.map(\.until).min() ?? Date())))
    }

    private func release(_ query: Query) async throws -> Response {
        try query.check("source")
        let names = try named(query)
        let released = try await store.write { [service] _ in try service.release(names) }
        return .json(try JSONOutput.line(["released": released]))
    }

    /// True for a source that is declared, or has runs.
    private func isKnown(_ source: String, in store: any MainStore) throws -> Bool {
        try service.configuration[source: source] != nil || !store.runs(of: source, failed: false, limit: 1).isEmpty
    }

    private func declared(_ query: Query) throws -> [String] {
        let names = query.all("source")
        if let unknown = names.first(where: { service.configuration[source: $0] == nil }) {
            throw Query.Problem.noSource(unknown)
        }
        return names
    }

    /// Returns declared sources that are not switched off.
    private func enabled(_ query: Query) throws -> [String] {
        let names = try declared(query)
        if let off = names.first(where: { service.configuration[source: $0]?.isEnabled == false }) {
            throw Query.Problem("source '\(off)' is switched off (enabled = false)", .conflict)
        }
        return names
    }

    private func named(_ query: Query) throws -> [String] {
        let names = try enabled(query)
        guard !names.isEmpty else { throw Query.Problem("name the source as ?source=NAME") }
        return names
    }
}
