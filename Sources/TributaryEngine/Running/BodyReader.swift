import FeedStore
import Foundation

/// One response's body on its way from the network to the parser: decompressed, limited, counted.
final class BodyReader {
    private let decoder: BodyDecoder
    private let parser: any BodyParser

    /// Bytes received, before decompression.
    private(set) var received = 0
    /// Bytes after decompression.
    var count: Int { decoder.count }

    init(_ response: FeedResponse, parser: any BodyParser, limit: Int) throws {
        decoder = try BodyDecoder(contentEncoding: response[header: "Content-Encoding"], limit: limit)
        self.parser = parser
    }

    func read(_ piece: UnsafeRawBufferPointer) throws {
        received += piece.count
        try decoder.decode(piece) { try parser.parse($0) }
    }

    func finish() throws {
        try decoder.finish { try parser.parse($0) }
        try parser.finish()
    }
}
