import FeedStores
import Hummingbird
import NIOCore
import TributaryEngine

/// The changes that a query finds, in pieces: a row may be large, and whoever reads may be slow.
struct ChangeLines: Sendable {
    struct Piece: Sendable {
        var text = ""
        /// The number of changes up to the end of this piece.
        var end = 0
        /// The last change of this piece; nil before the first.
        var place: RowChange.Place?
        var isLast = true
    }

    /// The least size, in bytes, of a piece that is not the last.
    private static let size = 256 << 10

    let query: ChangeQuery
    var limit = Int.max
    var format = FileFormat.ndjson
    let store: StoreQueue

    /// Answers with all of them.
    ///
    /// - Throws: `StoreError`, `CancellationError`: what cannot be read at all is an error, not an answer that breaks off.
    func response() async throws -> Response {
        let first = try await next(after: nil)
        let body =
            first.isLast
            ? ResponseBody(byteBuffer: ByteBuffer(string: first.text))
            : ResponseBody { writer in try await write(to: &writer, first) }
        return Response(status: .ok, headers: [.contentType: format.contentType], body: body)
    }

    /// Returns the first piece, or the one after another.
    private func next(after former: Piece?) async throws -> Piece {
        var query = query
        query.after = former?.place
        return try await store.read { [query, limit, format] store in
            let start = former == nil ? format.start(FileFormat.changeColumns) : ""
            var piece = Piece(text: start, end: former?.end ?? 0, place: former?.place)
            try store.changes(query) { change in
                piece.text += try format.text(change, isFirst: piece.end == 0)
                piece.end += 1
                piece.place = change.place
                piece.isLast = piece.end >= limit || piece.text.utf8.count < Self.size
                return piece.end < limit && piece.text.utf8.count < Self.size
            }
            if piece.isLast { piece.text += format.end }
            return piece
        }
    }

    @concurrent
    private func write(to writer: inout any ResponseBodyWriter, _ first: Piece) async throws {
        var piece = first
        while true {
            try await writer.write(ByteBuffer(string: piece.text))
            if piece.isLast { break }
            piece = try await next(after: piece)
        }
        try await writer.finish(nil)
    }
}

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
