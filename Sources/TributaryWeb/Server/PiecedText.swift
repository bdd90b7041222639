import HTTPTypes
import Hummingbird
import NIOCore

/// A long text that is read in pieces: a client may be slow, and no transaction waits for it.
protocol PiecedText: Sendable {
    /// Returns the next piece, which may be empty; nil after the last one.
    ///
    /// - Throws: `StoreError`, `CancellationError`, and the mistakes of a query.
    mutating func next() async throws -> String?
}

extension Response {
    /// Answers with a text, piece by piece. The first piece is read before the answer begins, so that a text that cannot
    /// be read at all is an error and not an answer that breaks off.
    static func pieces(of text: some PiecedText, _ contentType: String) async throws -> Response {
        var text = text
        let first = try await text.next()
        return Response(
            status: .ok, headers: [.contentType: contentType],
            body: ResponseBody { [text] writer in
                var rest = text
                var piece = first
                while let shown = piece {
                    if !shown.isEmpty { try await writer.write(ByteBuffer(string: shown)) }
                    piece = try await rest.next()
                }
                try await writer.finish(nil)
            })
    }
}
