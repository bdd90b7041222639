import FeedModel
import FeedStores

/// The values of a column with the numbers of their rows, each a link to these rows.
enum TableFacet {
    private static let most = 30
    /// The most rows that are counted.
    private static let mostRows = 100_000
    /// The time to count. A page without the counts is better than none.
    private static let timeLimit = Duration.seconds(2)
    /// A column is offered that has no more values than this in the rows of a page.
    private static let few = 2...12

    /// Counts the values of a column in the rows of an address; blocks its thread.
    ///
    /// - Throws: `StoreError`; `RowQuery.Problem` where the table has no such column.
    static func view(
        _ name: String, of table: BrowsedTable, _ address: RowAddress, in store: any StoreBrowsing
    ) throws -> View {
        guard let place = table.position(of: name) else { throw RowQuery.Problem.noColumn(name, of: table) }
        let column = table.columns[place].name
        do {
            let found = try store.browse(within: timeLimit) {
                try $0.values(of: column, address.query(limit: mostRows), most: most + 1)
            }
            let values = found.values.prefix(most).map { found -> View in
                let isNull = found.value == .null
                let filter =
                    isNull
                    ? RowQuery.Filter(column: column, .null, "")
                    : found.value.filterText.map { RowQuery.Filter(column: column, .equal, $0) }
                let chosen = filter.map { filter in
                    address.with {
                        $0.after = nil
                        $0.filters = $0.filters.filter { $0.column.lowercased() != column.lowercased() } + [filter]
                    }.address()
                }
                // Without an address, no condition has the value.
                return [
                    "text": found.value.shown(most: 100), "isNull": isNull, "count": found.count, "address": chosen,
                ]
            }
            // The number of rows that were counted is nil for all.
            return [
                "column": column, "values": values, "hasMore": found.values.count > most,
                "counted": found.rows == mostRows ? found.rows.grouped : nil,
            ]
        } catch let error as RowQuery.Problem {
            return ["column": column, "problem": error.description]
        }
    }

    /// Returns the columns whose values are worth counting, to judge by some rows.
    ///
    /// - Parameter chosen: one that is counted already.
    static func columns(of table: BrowsedTable, _ rows: [BrowsedRow], with chosen: String?) -> [String] {
        table.columns.enumerated().filter { index, column in
            if column.name.lowercased() == chosen?.lowercased() { return true }
            guard table.key != [column.name], rows.count >= 2 * few.lowerBound else { return false }
            let values = Set(rows.map { $0.values[index].shown(most: 50) })
            return few.contains(values.count) && values.count * 2 <= rows.count
        }.map(\.element.name)
    }
}
