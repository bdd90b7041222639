import FeedConfiguration

@testable import FeedParsing
@testable import TributaryEngine
@testable import XMLStream

/// A page as a run reads it: repaired rather than refused, unless it is too large or no page at all; every element that
/// begins ends; no more of them than the page's size allows.
///
/// Whole and byte by byte it may become different elements: libxml2 2.9 reads some broken comments by its pieces.
final class HTMLTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        // A page is pushed to libxml2 from 4 KiB on.
        let padded = Array("<!--\(String(repeating: "x", count: 4_000))-->".utf8) + input
        let whole = try read(input, pieceSize: nil)
        _ = try read(padded, pieceSize: 1)
        return whole
    }

    private func read(_ input: [UInt8], pieceSize: Int?) throws -> Bool {
        let handler = BalanceHandler()
        let error = try refusal {
            let response = FuzzStore.response([("Content-Type", "text/html")])
            let reader = try BodyReader(
                response, [handler], limit: FuzzStore.bodyLimit, dialect: BodyDialect(format: .html))
            try forEachPiece(of: input, size: pieceSize) { try reader.read($0) }
            try reader.finish()
        }
        if let error = error as? XMLStreamError, error.code != .limit, error.code != .empty {
            throw FuzzFinding("a page is refused: \(error)")
        }
        guard error != nil || handler.open == 0 else { throw FuzzFinding("\(handler.open) elements do not end") }
        guard handler.count <= FuzzStore.budget(input.count) else {
            throw FuzzFinding("\(input.count) bytes of HTML have become \(handler.count) bytes of elements")
        }
        return error == nil
    }

    /// The open elements, and the bytes of names and texts.
    private final class BalanceHandler: XMLStreamHandler {
        var open = 0
        var count = 0

        override func didStartElement(in stream: XMLStreamParser) throws { open += 1 }

        override func didEndElement(in stream: XMLStreamParser) throws {
            open -= 1
            count += 2 * stream.qualifiedName.utf8.count + stream.textBytes.count
        }
    }
}
