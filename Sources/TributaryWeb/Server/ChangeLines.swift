import FeedStores
import TributaryEngine

/// The changes that a query finds, in pieces.
struct ChangeLines: PiecedText {
    /// The least size, in bytes, of a piece that is not the last.
    private static let size = 256 << 10

    private var query: ChangeQuery
    private let format: FileFormat
    private let store: StoreQueue
    /// The changes that may still be read; nil after the last piece.
    private var left: Int?
    private var isFirst = true

    init(_ query: ChangeQuery, limit: Int = .max, format: FileFormat = .ndjson, in store: StoreQueue) {
        self.query = query
        self.format = format
        self.store = store
        left = limit
    }

    mutating func next() async throws -> String? {
        guard let left else { return nil }
        let (text, place, count, isLast) = try await store.read { [query, format, isFirst] store in
            var text = isFirst ? format.start(FileFormat.changeColumns) : ""
            var (place, count, isLast) = (query.after, 0, true)
            try store.changes(query) { change in
                text += try format.text(change, isFirst: isFirst && count == 0)
                count += 1
                place = change.place
                isLast = count >= left || text.utf8.count < Self.size
                return count < left && text.utf8.count < Self.size
            }
            return (isLast ? text + format.end : text, place, count, isLast)
        }
        query.after = place
        self.left = isLast ? nil : left - count
        isFirst = false
        return text
    }
}
