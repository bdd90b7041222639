import FeedModel
import FeedStores
import Foundation
import Hummingbird
import TributaryEngine

/// The changes of a run for programs, as `/sources/shop/runs/285.csv` or `.json`: those that it has made, or those that a
/// blocked run waits to make.
struct RunDownload: Sendable {
    let source: String
    let run: Int64
    let format: FileFormat
    let part: ChangePart

    private enum Found: Sendable {
        case review(String)
        case changes
    }

    /// - Returns: nil where the source has no such run.
    /// - Throws: ``Query/Problem`` where its changes are not known; `StoreError`; `CancellationError`.
    func response(_ pages: Pages) async throws -> Response? {
        guard pages.showsRows else { throw Query.Problem(Pages.rowsAreOff, .notFound) }
        let configuration = pages.service.configuration
        let found = try await pages.store.read { store -> Found? in
            guard let run = try store.read({ try $0.runs.run(run) }), run.source == source else { return nil }
            if try configuration.waitingRun(for: self.run, of: source, in: store) != nil {
                guard let review = configuration.review(of: run) else {
                    throw Query.Problem(
                        "This daemon cannot show the changes of run \(self.run): its documents were not kept, or are "
                            + "on another machine.", .notFound)
                }
                return .review(try format.text(part.rows(of: review)))
            }
            guard try store.read({ try $0.runs.hasHistory(self.run) }) else {
                throw Query.Problem(
                    "Old values of run \(self.run) were not kept. 'keep_history = true' keeps those of later runs.",
                    .notFound)
            }
            return .changes
        }
        switch found {
        case nil: return nil
        case .review(let text): return .file(text, format)
        case .changes:
            var query = ChangeQuery(run: run, table: part.table)
            query.operation = part.operation
            return try await .pieces(of: ChangeLines(query, format: format, in: pages.store), format.contentType)
        }
    }
}
