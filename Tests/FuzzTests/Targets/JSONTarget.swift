@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// JSON as a run reads it: what is refused, is refused as JSON and not for what has been made of it; the same elements
/// whole and byte by byte; no more of them than the document's size allows.
final class JSONTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        let whole = try read(input, pieceSize: nil)
        let pieces = try read(input, pieceSize: 1)
        guard (whole.error == nil) == (pieces.error == nil), whole.error != nil || whole.count == pieces.count else {
            throw FuzzFinding("whole, the document gives \(whole); byte by byte, \(pieces)")
        }
        // What is not UTF-8 stays what it is, and the XML says so.
        if let error = whole.error as? XMLStreamError, error.code != .limit, error.code != .empty,
            String(validating: input, as: UTF8.self) != nil
        {
            throw FuzzFinding("JSON has become XML that is not well-formed: \(error)")
        }
        guard whole.count <= FuzzStore.budget(input.count) else {
            throw FuzzFinding("\(input.count) bytes of JSON have become \(whole.count) bytes of elements")
        }
        return whole.error == nil
    }

    private func read(_ input: [UInt8], pieceSize: Int?) throws -> (count: Int, error: (any Error)?) {
        let handler = CountingHandler()
        let error = try refusal {
            let response = FuzzStore.response([("Content-Type", "application/json")])
            let reader = try BodyReader(response, [handler], limit: FuzzStore.bodyLimit)
            try forEachPiece(of: input, size: pieceSize) { try reader.read($0) }
            try reader.finish()
        }
        return (handler.count, error)
    }

    /// Bytes of elements' names and texts.
    private final class CountingHandler: XMLStreamHandler {
        var count = 0

        override func didEndElement(in stream: XMLStreamParser) throws {
            count += 2 * stream.qualifiedName.utf8.count + stream.textBytes.count
        }
    }
}
