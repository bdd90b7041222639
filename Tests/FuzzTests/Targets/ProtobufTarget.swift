import FeedConfiguration

@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// A feed of GTFS Realtime as a run reads it: the same elements and the same error whole and byte by byte; no more of them than
/// the feed's size allows.
final class ProtobufTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        let whole = try read(input, pieceSize: nil)
        let pieces = try read(input, pieceSize: 1)
        // A compressed body may be refused before or after some of it is read.
        let isOtherFault = !whole.error.isEmpty && !pieces.error.isEmpty && !whole.error.hasPrefix("byte ")
        guard whole == pieces || isOtherFault else {
            throw FuzzFinding("whole, the feed gives \(whole); byte by byte, \(pieces)")
        }
        guard whole.count <= FuzzStore.budget(input.count) else {
            throw FuzzFinding("\(input.count) bytes of Protocol Buffers have become \(whole.count) bytes of elements")
        }
        return whole.error.isEmpty
    }

    private func read(_ input: [UInt8], pieceSize: Int?) throws -> (count: Int, error: String) {
        let handler = CountingHandler()
        let error = try refusal {
            let response = FuzzStore.response([("Content-Type", "application/x-protobuf")])
            let reader = try BodyReader(
                response, [handler], limit: FuzzStore.bodyLimit, dialect: BodyDialect(format: .gtfsRealtime))
            try forEachPiece(of: input, size: pieceSize) { try reader.read($0) }
            try reader.finish()
        }
        return (handler.count, error.map { "\($0)" } ?? "")
    }

    /// Bytes of elements' names and texts.
    private final class CountingHandler: XMLStreamHandler {
        var count = 0

        override func didEndElement(in stream: XMLStreamParser) throws {
            count += 2 * stream.qualifiedName.utf8.count + stream.textBytes.count
        }
    }
}
