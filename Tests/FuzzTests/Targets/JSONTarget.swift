@testable import TributaryEngine
@testable import XMLStream

/// JSON through the transcoder: what it makes of a valid document must be well-formed XML, and the same for any pieces.
final class JSONTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        guard let xml = try transcode(input, pieceSize: nil) else {
            if let inPieces = try transcode(input, pieceSize: 1) {
                throw FuzzFinding("refused whole, and taken byte by byte as \(inPieces.count) bytes of XML")
            }
            return false
        }
        guard try transcode(input, pieceSize: 1) == xml else { throw FuzzFinding("other XML byte by byte") }
        let handler = XMLStreamHandler()
        let error = try refusal {
            let stream = XMLStreamParser(handler: handler)
            try forEachPiece(of: xml, size: nil) { try stream.parse($0) }
            try stream.finish()
        }
        // What is not UTF-8 stays what it is, and the XML says so.
        if let error = error as? XMLStreamError, error.code != .limit,
            String(validating: input, as: UTF8.self) != nil
        {
            throw FuzzFinding("valid JSON has become XML that is not well-formed: \(error)")
        }
        return error == nil
    }

    private func transcode(_ input: [UInt8], pieceSize: Int?) throws -> [UInt8]? {
        var transcoder = JSONTranscoder()
        var xml: [UInt8] = []
        let isTaken = try accepts {
            try forEachPiece(of: input, size: pieceSize) { xml += try transcoder.transcode($0) }
            xml += try transcoder.finish()
        }
        return isTaken ? xml : nil
    }
}
