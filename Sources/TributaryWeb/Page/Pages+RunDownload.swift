import FeedModel
import FeedStores
import Foundation
import Hummingbird
import TributaryEngine

extension Pages {
    /// Returns the changes of a run for programs, as `/sources/shop/runs/285.csv` or `.json`: those that it has made, or
    /// those that a blocked run waits to make.
    ///
    /// - Returns: nil where the source has no such run.
    /// - Throws: ``Query/Problem`` where its changes are not known; `StoreError`; `CancellationError`.
    func changes(
        of number: Int64, _ source: String, _ part: ChangePart, as format: FileFormat
    ) async throws -> Response? {
        guard showsRows else { throw Query.Problem(Self.rowsAreOff, .notFound) }
        let configuration = service.configuration
        let (isKnown, review) = try await store.read { store -> (Bool, String?) in
            guard let run = try store.read({ try $0.runs.run(number) }), run.source == source else {
                return (false, nil)
            }
            if try configuration.waitingRun(for: number, of: source, in: store) != nil {
                guard let review = configuration.review(of: run) else {
                    throw Query.Problem(
                        "This daemon cannot show the changes of run \(number): its documents were not kept, or are "
                            + "on another machine.", .notFound)
                }
                return (true, try format.text(part.rows(of: review)))
            }
            guard try store.read({ try $0.runs.hasHistory(number) }) else {
                throw Query.Problem(
                    "This store has no old values of run \(number). A run keeps them with 'keep_history = true', and "
                        + "'move-store' leaves them behind.", .notFound)
            }
            return (true, nil)
        }
        guard isKnown else { return nil }
        if let review { return .file(review, format) }
        var query = ChangeQuery(run: number, table: part.table)
        query.operation = part.operation
        return try await .pieces(of: ChangeLines(query, format: format, in: store), format.contentType)
    }
}
