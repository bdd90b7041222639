@testable import FeedFetching
@testable import TributaryEngine

/// Compressed bodies and archives: within the limit, and the same for any pieces. The first byte says what the server
/// declares.
final class ArchiveTarget: FuzzTarget {
    private static let limit = 1 << 20

    func run(_ input: [UInt8]) throws -> Bool {
        guard let first = input.first else { return false }
        let encoding = [nil, "gzip", "deflate", "x-gzip, identity"][Int(first) % 4]
        let body = Array(input.dropFirst())
        let whole = try decode(body, encoding, pieceSize: nil)
        let pieces = try decode(body, encoding, pieceSize: 1 + Int(first) / 4)
        guard whole.isTaken == pieces.isTaken, !whole.isTaken || whole.count == pieces.count,
            whole.start == pieces.start
        else { throw FuzzFinding("whole, the body gives \(whole); in pieces, \(pieces)") }
        guard whole.count <= Self.limit else { throw FuzzFinding("\(whole.count) bytes have come out") }
        return whole.isTaken
    }

    /// - Returns: whether the body is taken, and, where it is, how many bytes come out and which are the first.
    private func decode(_ body: [UInt8], _ encoding: String?, pieceSize: Int?) throws
        -> (isTaken: Bool, count: Int, start: [UInt8])
    {
        var count = 0
        var start: [UInt8] = []
        func take(_ bytes: UnsafeRawBufferPointer) {
            count += bytes.count
            start += bytes.prefix(4096 - start.count)
        }
        let isTaken = try accepts {
            let decoder = try BodyDecoder(contentEncoding: encoding, limit: Self.limit)
            try forEachPiece(of: body, size: pieceSize) { try decoder.decode($0, take) }
            try decoder.finish(take)
        }
        return isTaken ? (true, count, start) : (false, 0, [])
    }
}
