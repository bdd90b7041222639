import FeedModel
package import FeedStores

/// A changed row in JSON: a line of `changes --json`.
package struct ChangeRecord: Encodable {
    private let change: RowChange

    package init(_ change: RowChange) { self.change = change }

    package func encode(to encoder: any Encoder) throws {
        let object: JSONObject = [
            "run": change.run, "source": change.source, "started_at": change.startedAt, "table": change.table,
            "operation": change.operation, "key": change.key.object, "old": change.old?.object,
            "new": change.new?.object,
            // If the row has been changed since, its values after the run are unknown.
            "changed_since": !change.isKnown,
        ]
        try object.encode(to: encoder)
    }
}

extension [(column: String, value: StoredValue)] {
    /// The values by their columns, as JSON has a row.
    var object: [String: StoredValue] { Dictionary(map { ($0.column, $0.value) }) { first, _ in first } }
}

/// Ends the reading of changes.
private struct Enough: Error {}

extension StoreHistory {
    /// Reports the first changes that a query finds, until the body returns false.
    package func changes(_ query: ChangeQuery, while body: (RowChange) throws -> Bool) throws {
        do {
            try changes(query) { change in
                if try !body(change) { throw Enough() }
            }
        } catch is Enough {
        }
    }
}
