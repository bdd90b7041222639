@testable import TributaryEngine
@testable import XMLStream

/// JSON through the transcoder: what it makes of a valid document must be well-formed XML, and the same for any pieces.
final class JSONTarget: FuzzTarget {
    func run(_ input: [UInt8]) throws -> Bool {
        try checkSize(input)
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

    /// What a run's parser is given of it.
    private func checkSize(_ input: [UInt8]) throws {
        let parser = CountingParser()
        _ = try refusal {
            let response = FuzzStore.response([("Content-Type", "application/json")])
            let reader = try BodyReader(response, parser: parser, limit: FuzzStore.bodyLimit)
            try forEachPiece(of: input, size: nil) { try reader.read($0) }
            try reader.finish()
        }
        guard parser.count <= FuzzStore.budget(input.count) else {
            throw FuzzFinding("\(input.count) bytes of JSON have become \(parser.count) bytes of XML")
        }
    }

    private final class CountingParser: BodyParser {
        var count = 0
        func parse(_ bytes: UnsafeRawBufferPointer) throws { count += bytes.count }
        func finish() throws {}
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
