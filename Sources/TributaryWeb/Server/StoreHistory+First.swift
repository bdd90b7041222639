import FeedStores

/// Ends the reading.
private struct Enough: Error {}

extension StoreHistory {
    /// Returns the first changes that a query finds.
    func firstChanges(_ query: ChangeQuery, limit: Int) throws -> [RowChange] {
        var found: [RowChange] = []
        do {
            try changes(query) { change in
                found.append(change)
                if found.count >= limit { throw Enough() }
            }
        } catch is Enough {
        }
        return found
    }
}
