import FeedStores
import Hummingbird
import NIOCore
import TributaryEngine

/// The changes that a query finds, a line each, in pieces: a row may be large, and whoever reads may be slow.
struct ChangeLines: Sendable {
    struct Piece: Sendable {
        var text = ""
        /// The changes up to the end of this piece.
        var end: Int
        var isLast = true
    }

    /// The least size, in bytes, of a piece that is not the last.
    private static let size = 256 << 10

    let query: ChangeQuery
    let limit: Int
    let store: StoreQueue

    /// Returns the piece that begins after a number of changes.
    ///
    /// - Throws: `StoreError`, `CancellationError`.
    func next(after passed: Int) async throws -> Piece {
        var query = query
        query.passedOver = passed
        return try await store.read { [query, limit] store in
            var piece = Piece(end: passed)
            try store.changes(query) { change in
                piece.text += try JSONOutput.line(ChangeRecord(change)) + "\n"
                piece.end += 1
                piece.isLast = piece.end >= limit || piece.text.utf8.count < Self.size
                return piece.end < limit && piece.text.utf8.count < Self.size
            }
            return piece
        }
    }

    @concurrent
    func write(to writer: inout any ResponseBodyWriter, _ first: Piece) async throws {
        var piece = first
        while true {
            try await writer.write(ByteBuffer(string: piece.text))
            if piece.isLast { break }
            piece = try await next(after: piece.end)
        }
        try await writer.finish(nil)
    }
}
