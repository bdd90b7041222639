import FeedModel
import FeedStores

/// The rows of a question, in pieces. Each piece begins behind the last row of the one before.
struct RowLines: PiecedText {
    /// The least size, in bytes, of a piece that is not the last.
    private static let size = 256 << 10
    /// The most rows that are asked for at once. A server sends all of them, also those that the piece has no room for.
    private static let mostRows = 10_000
    /// The time for one piece.
    static let timeLimit = Duration.seconds(5)

    private let address: RowAddress
    private let columns: [String]
    private let format: FileFormat
    private let store: StoreQueue
    /// The place of the last row.
    private var place: RowPlace?
    /// The rows to ask for.
    private var rows = 200
    /// The rows that may still be read; nil after the last piece.
    private var left: Int?
    private var isFirst = true

    init(_ address: RowAddress, columns: [String], format: FileFormat, in store: StoreQueue) {
        self.address = address
        self.columns = columns
        self.format = format
        self.store = store
        place = address.after
        left = address.limit ?? .max
    }

    /// - Throws: `RowQuery.Problem`, `StoreError`, `CancellationError`.
    mutating func next() async throws -> String? {
        guard let left else { return nil }
        let asked = min(rows, left)
        var query = address.query(limit: asked)
        query.after = place
        let (text, last, count) = try await store.browse(isSearch: address.isSearch) {
            [query, columns, format, isFirst] store in
            var text = isFirst ? format.start(columns) : ""
            var (last, count) = (query.after, 0)
            try store.browse(within: Self.timeLimit) { tables in
                try tables.rows(query) { row in
                    text += format.row(columns, row.values, isFirst: isFirst && count == 0)
                    last = row.place
                    count += 1
                    return text.utf8.count < Self.size
                }
            }
            return (text, last, count)
        }
        let isLast = count == left || count < asked && text.utf8.count < Self.size
        place = last
        self.left = isLast ? nil : left - count
        // As many as there was room for, and some more.
        rows = min(Self.mostRows, count * 2 + 1)
        isFirst = false
        return isLast ? text + format.end : text
    }
}
