import FeedConfiguration
import FeedFetching
import FeedModel
import FeedStaging
import FeedStores
import Foundation

extension SourceDeclaration {
    /// Returns true if the documents of a request are read in each run: it is sent without validators, or a later request
    /// may query its rows (`for_each`).
    func isAlwaysRead(_ index: Int) -> Bool {
        requests[index].isUnconditional || requests[index...].contains { $0.forEach != nil }
    }
}

/// Decisions of a run, as pure functions of its state.
enum StackDecision {
    /// Returns a request to repeat without validators, if any. It answered 304, but a changed request of the stack
    /// deletes rows of one of its tables. Its rows must be staged too before anything is deleted. Which rows are its
    /// own follows from what it wrote when last committed, whatever it declares now.
    ///
    /// - Parameter comparison: returns the way a table compares the values of two scopes.
    static func unchangedRequestToRepeat(
        _ requests: [RequestDeclaration], _ results: [RequestResult],
        comparison: (_ table: String, _ scopes: [[String: String]]) throws -> TableComparison
    ) rethrows -> Int? {
        let parsed = requests.indices.filter { results[$0].report.outcome == .parsed && requests[$0].deletesRows }
        return try requests.indices.first { index in
            guard results[index].report.outcome == .unchanged, let state = results[index].state else { return false }
            let tables = Set(state.tables.map { $0.lowercased() })
            return try parsed.contains { other in
                let scope = requests[other].scope
                let deleted = Set((results[other].state?.tables ?? []).map { $0.lowercased() })
                return try deleted.contains { table in
                    guard tables.contains(table), requests[other].deletesRows(of: table) else { return false }
                    if state.scope.isEmpty || scope.isEmpty { return true }
                    return try comparison(table, [state.scope, scope]).mayShareRows(state.scope, scope)
                }
            }
        }
    }

    /// Returns a request to repeat without validators, if any. It answered 304, but looks up rows of a table for which
    /// another request of the stack has received a changed document, or of which rows have expired.
    static func lookupToRepeat(
        _ requests: [RequestDeclaration], _ results: [RequestResult], of source: String,
        _ lookups: [String: [RowLookup]], expiring: @autoclosure () throws -> [String]
    ) rethrows -> Int? {
        guard !lookups.isEmpty, results.contains(where: { $0.report.outcome == .unchanged }) else { return nil }
        let received =
            try results.filter { $0.report.outcome == .parsed }.flatMap { $0.state?.tables ?? [] } + expiring()
        let looking = Set(received.flatMap { lookups[$0.lowercased()] ?? [] }.map(\.request))
        return requests.indices.first { index in
            results[index].report.outcome == .unchanged
                && looking.contains(RequestID(source: source, key: requests[index].key))
        }
    }

    /// Checks that no other source mirrors the same rows, because each would delete the other's.
    ///
    /// - Parameters:
    ///   - others: the requests of other sources that have written such rows.
    ///   - comparison: how the table compares values.
    /// - Throws: ``StoreError`` with both requests' names.
    static func checkMirror(
        of rows: MirroredRows, by source: SourceDeclaration, others: [RequestID],
        comparedBy comparison: TableComparison, configuration: TributaryConfiguration
    ) throws {
        for other in others {
            guard let declaration = configuration[source: other.source], declaration.isEnabled,
                let rival = declaration.requests.first(where: { $0.key == other.key }), rival.mirrors(rows.table),
                comparison.mayShareRows(rows.scope, rival.scope),
                let request = source.requests.first(where: { $0.mirrors(rows.table) && $0.scope == rows.scope })
            else { continue }
            throw StoreError(
                .conflict,
                "table '\(rows.table)' is mirrored by request '\(request.key)' of source '\(source.name)' and by request "
                    + "'\(rival.key)' of source '\(other.source)', and each would delete the other's rows; "
                    + "give each its own scope")
        }
    }

    /// Returns the message for a status that a request does not accept.
    static func refusal(_ status: Int, of request: RequestDeclaration) -> String {
        let answer = "the server answered \(HTTPReason.text(status))"
        if let forEach = request.forEach, [404, 410].contains(status) {
            let advice = "; on_error = \"skip\" in for_each leaves out such items"
            return answer + (forEach.maxSkipped == nil ? advice : "")
        }
        switch status {
        case 401, 403:
            // A token that was renewed while the program ran is not sent yet.
            let reading = "; a token from a file is read at the start and at a reload"
            return answer + "; check the request's 'auth' and 'headers'"
                + (status == 401 && request.hasSecretOfFile ? reading : "")
        case 404: return "the server answered 404 Not Found; check the request's url"
        case 410: return answer + "; the feed no longer exists, and the source can be removed"
        case 429, 500...599: return answer + "; the request is repeated later"
        case 304: return answer + " to a request that was not conditional"
        case 400..<500: return answer + "; check the request's url, method and headers"
        default: return answer + "; accept_status is \(request.acceptStatus.sorted())"
        }
    }

    /// Returns the message for the status of an answer to `infer`, which sends no credentials.
    static func refusalOfDocument(_ status: Int) -> String {
        let answer = "the server answered \(HTTPReason.text(status))"
        switch status {
        case 401, 403: return answer + "; download the document, and give the file"
        case 429, 500...599: return answer + "; try again later"
        default: return answer + "; check the URL"
        }
    }
}
