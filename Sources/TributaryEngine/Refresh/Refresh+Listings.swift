import FeedConfiguration
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores

/// Reads the changed documents of a folder without the others.
extension Refresh {
    /// Reads the body of a request's response. Of a folder, reads the files that have changed since the last run, if the rows of
    /// the others are sure to be those that the store has.
    func takeChanged(
        _ exchange: Exchange, of request: RequestDeclaration, _ index: Int, _ context: ExchangeContext,
        _ conditions: RunState.Conditions
    ) async throws -> ParsedBody {
        run.results[index].documents.listing = try listing(exchange, index, conditions)
        if let positions = run.results[index].documents.listing?.positions {
            let former = unmatched
            var part = request
            // What is read may be empty, and what is left out may not.
            part.allowsEmpty = true
            let body = try await takePages(exchange.selecting(positions), of: part, index, context)
            if run.results[index].documents.listing?.end() == true, try !needsAllRecords(index) { return body }
            // A row has the key of a document that was left out, so that the order of all of them decides; or all records count.
            try self.context?.forgetRequest(index)
            run.results[index].documents = DocumentNotes()
            unmatched = former
            run.results[index].documents.listing = exchange.versions.map { ListingReading($0) }
        }
        let body = try await takePages(exchange, of: request, index, context, known: conditions.digest)
        _ = run.results[index].documents.listing?.end()
        return body
    }

    /// Returns true if what was read decides alone whether too many of its records were left out because of errors.
    private func needsAllRecords(_ index: Int) throws -> Bool {
        guard let skipped = context?.skipped(of: index), skipped.invalid > 0 else { return false }
        return skipped.leavesNone || run.source.requests[index].maxSkipped != nil
    }

    /// - Returns: nil for a body that is no folder.
    private func listing(
        _ exchange: Exchange, _ index: Int, _ conditions: RunState.Conditions
    ) throws -> ListingReading? {
        guard exchange.isListing else { return nil }
        guard run.kept == nil, run.source.mayReadChangedDocuments(of: index), try !sharesRows(index),
            let versions = exchange.versions
        else { return .ofAll }
        guard run.undone == nil, let version = conditions.validators.etag else { return ListingReading(versions) }
        let (source, key) = (run.source.name, run.source.requests[index].key)
        let former = try environment.store.read {
            try $0.listings.documents(of: source, request: key, version: version)
        }
        return ListingReading(versions, after: former)
    }

    /// Returns true if another request of the source may write the same rows: the order of the requests then decides.
    private func sharesRows(_ index: Int) throws -> Bool {
        func tables(_ request: RequestDeclaration) -> Set<String> {
            let known = environment.registry.tables(of: request.content) + (run.known[request.key]?.tables ?? [])
            return Set(known.map { $0.lowercased() })
        }
        let request = run.source.requests[index]
        let own = tables(request)
        return try run.source.requests.indices.contains { position in
            let other = run.source.requests[position]
            return try position != index
                && tables(other).intersection(own).contains {
                    try environment.store.mayShareRows(of: $0, request.scope, other.scope)
                }
        }
    }
}

extension SourceDeclaration {
    /// Returns true if a document of a request may be left out of a run: nothing but the key decides what becomes of its rows,
    /// nothing else in the run uses them, and no run is kept for later.
    fileprivate func mayReadChangedDocuments(of index: Int) -> Bool {
        let request = requests[index]
        guard case .mapping(let mapping) = request.content, !request.isUnconditional, !request.deletesRows,
            !mapping.tables.contains(where: \.matchesNames)
        else { return false }
        let tables = Dictionary(grouping: mapping.tables) { $0.table.lowercased() }
        return tables.values.allSatisfy { Set($0.map { $0.key.map { $0.lowercased() } }).count == 1 }
            && !requests[index...].contains { $0.forEach != nil }
            && !requests.contains { $0.isLimited || $0.keepsBodies || ExpectationCheck.concerns($0) }
    }
}
