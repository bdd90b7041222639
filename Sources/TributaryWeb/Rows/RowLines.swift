import FeedModel
import FeedStores
import Hummingbird
import NIOCore

/// The rows of a question, in pieces: whoever reads may be slow, and no transaction waits for that. Each piece begins
/// behind the last row of the one before.
struct RowLines: Sendable {
    struct Piece: Sendable {
        var text = ""
        /// The place of the last row; nil for a piece without rows.
        var last: RowPlace?
        var count = 0
        var isLast = true
    }

    /// The least size, in bytes, of a piece that is not the last.
    private static let size = 256 << 10
    /// The most rows that are asked for at once. A server sends all of them, also those that the piece has no room for.
    private static let mostRows = 10_000
    private static let firstRows = 200
    /// The time for one piece.
    static let timeLimit = Duration.seconds(5)

    let address: RowAddress
    let columns: [String]
    let format: FileFormat
    let store: StoreQueue

    /// Returns the first piece.
    ///
    /// - Throws: `RowQuery.Problem`, `StoreError`, `CancellationError`.
    func first() async throws -> Piece {
        var piece = try await next(after: address.after, rows: Self.firstRows, passed: 0)
        piece.text = format.start(columns) + piece.text
        return piece
    }

    private func next(after place: RowPlace?, rows: Int, passed: Int) async throws -> Piece {
        let left = address.limit.map { $0 - passed } ?? .max
        let asked = min(rows, left)
        guard asked > 0 else { return Piece() }
        var query = address.query(limit: asked)
        query.after = place
        return try await store.browse(isSearch: address.isSearch) { [query, columns, format] store in
            var piece = Piece(last: place)
            try store.rows(query, within: Self.timeLimit) { row in
                piece.text += format.row(columns, row.values, isFirst: passed + piece.count == 0)
                piece.last = row.place
                piece.count += 1
                return piece.text.utf8.count < Self.size
            }
            piece.isLast = piece.count == left || piece.count < asked && piece.text.utf8.count < Self.size
            return piece
        }
    }

    @concurrent
    func write(to writer: inout any ResponseBodyWriter, _ first: Piece) async throws {
        var piece = first
        var passed = piece.count
        while true {
            if !piece.text.isEmpty { try await writer.write(ByteBuffer(string: piece.text)) }
            if piece.isLast { break }
            // As many as there was room for, and some more.
            piece = try await next(
                after: piece.last, rows: min(Self.mostRows, piece.count * 2 + 1), passed: passed)
            passed += piece.count
        }
        if !format.end.isEmpty { try await writer.write(ByteBuffer(string: format.end)) }
        try await writer.finish(nil)
    }
}
