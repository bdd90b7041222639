import FeedStores

/// Ends the reading.
private struct Enough: Error {}

extension StoreHistory {
    /// Reports the first changes that a query finds, until the body returns false.
    func changes(_ query: ChangeQuery, while body: (RowChange) throws -> Bool) throws {
        do {
            try changes(query) { change in
                if try !body(change) { throw Enough() }
            }
        } catch is Enough {
        }
    }
}
