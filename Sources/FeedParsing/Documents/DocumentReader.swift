package import FeedConfiguration
package import FeedModel
package import XMLStream

/// Reads a body of one format while it arrives, and passes it on to an XML parser as elements.
package protocol DocumentReader: AnyObject {
    /// Reads the next bytes. The first call has at least four of them, or the whole body.
    func read(_ bytes: UnsafeRawBufferPointer) throws

    /// Called when the body has ended.
    func finish() throws
}

/// A body that is an archive: it is kept in a file while it arrives. Then its members are read in any order, any number of
/// times.
package protocol DocumentArchive: AnyObject {
    /// The folder for further files.
    var folder: String { get }

    /// Keeps the next bytes of the body.
    func append(_ bytes: UnsafeRawBufferPointer) throws

    /// Passes a member to `consume`, unpacked, in pieces.
    ///
    /// - Parameter isWanted: returns true for the member's name.
    /// - Returns: false without such a member.
    /// - Throws: the errors of a damaged archive and of `consume`; an error if the members unpack to more than `max_body`.
    func read(_ isWanted: (String) -> Bool, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool
}

/// What a reader is made for.
struct DocumentInput {
    /// The parser that receives the document. It gets no other input.
    let stream: XMLStreamParser
    let response: FeedResponse
    let dialect: BodyDialect
    let archive: any DocumentArchive
}

/// A body that is not the expected document.
package struct DocumentError: Error, CustomStringConvertible {
    package var description: String
    /// True if the bytes are not of the encoding that was declared or assumed.
    package var isEncoding = false

    init(_ description: String) { self.description = description }
}

/// A format of bodies: the media types by which it is known, and what reads it.
package struct DocumentFormat: Sendable {
    let format: BodyFormat
    /// Returns true for a media type, in lower case and without parameters, that says the format.
    let isMediaType: @Sendable (String) -> Bool
    /// True if a page in HTML is recognised by its first bytes, and refused.
    var refusesPages = true
    let makeReader: @Sendable (DocumentInput) throws -> any DocumentReader

    /// Every format. A new one is an entry here and its reader.
    private static let all = [
        // No media type says XML for certain: JSON, too, is sent as `text/xml`.
        DocumentFormat(
            format: .xml, isMediaType: { _ in false }, refusesPages: false,
            makeReader: { XMLReader($0.stream) }),
        DocumentFormat(
            format: .json,
            isMediaType: { ["application/json", "text/json"].contains($0) || $0.hasSuffix("+json") },
            makeReader: { try JSONReader($0.stream) }),
        DocumentFormat(
            format: .jsonl,
            isMediaType: {
                [
                    "application/jsonl", "application/jsonlines", "application/x-jsonlines", "application/ndjson",
                    "application/x-ndjson",
                ].contains($0)
            },
            makeReader: { try JSONLinesReader($0.stream) }),
        DocumentFormat(
            format: .csv, isMediaType: { ["text/csv", "application/csv", tabSeparated].contains($0) },
            makeReader: { input in
                var dialect = input.dialect.csv
                if dialect.delimiter == nil, input.response.documentType == tabSeparated {
                    dialect.delimiter = UInt8(ascii: "\t")
                }
                dialect.encoding = dialect.encoding ?? input.response.charset
                return try CSVReader(input.stream, dialect)
            }),
        // No media type says it either: error pages are in HTML, too.
        DocumentFormat(
            format: .html, isMediaType: { _ in false }, refusesPages: false,
            makeReader: { HTMLStreamParser($0.stream, charset: $0.response.charset) }),
        DocumentFormat(
            format: .xlsx, isMediaType: { $0 == FeedResponse.workbookType },
            makeReader: { WorkbookReader($0.stream, $0.dialect.xlsx, $0.archive) }),
        // The media types of Protocol Buffers do not say which message a body is.
        DocumentFormat(
            format: .gtfsRealtime, isMediaType: { _ in false },
            makeReader: { try ProtobufReader($0.stream, .gtfsRealtime) }),
        DocumentFormat(
            format: .protobuf, isMediaType: { _ in false },
            makeReader: { input in
                guard let schema = input.dialect.protobuf else {
                    throw DocumentError("the schema of the Protocol Buffers is unknown; declare 'protobuf'")
                }
                return try ProtobufReader(input.stream, schema)
            }),
    ]

    private static let tabSeparated = "text/tab-separated-values"

    /// Returns the format that the media type says, or else the suffix of the document's name.
    package static func format(of response: FeedResponse) -> BodyFormat? {
        let type = response.documentType
        return all.first { $0.isMediaType(type) }?.format
    }

    /// Returns true if the body itself is an archive, which its reader opens.
    package static func isArchive(_ response: FeedResponse, declared: BodyFormat?) -> Bool {
        (declared ?? format(of: response))?.isArchive == true
    }

    /// Returns the reader of a body: by the declared format, or else by the media type or the suffix of its name, or else
    /// by the first bytes.
    ///
    /// - Parameters:
    ///   - start: the bytes from the start of the body.
    ///   - isWhole: true if no more bytes follow.
    ///   - archive: keeps the body if it is an archive.
    ///   - stream: receives the document, and must get no other input.
    ///   - repair: repairs the document if it is XML.
    /// - Returns: nil if more bytes are needed.
    /// - Throws: ``DocumentError`` if nothing shows the format; ``XMLStreamError`` if the body is an HTML page.
    package static func reader(
        for start: [UInt8], isWhole: Bool, of response: FeedResponse, dialect: BodyDialect,
        archive: any DocumentArchive, stream: XMLStreamParser, repair: XMLRepair? = nil
    ) throws -> (any DocumentReader)? {
        guard start.count >= 4 || isWhole else { return nil }
        let known = dialect.format ?? self.format(of: response)
        guard let format = known ?? BodyStart.format(of: start, isWhole: isWhole),
            let entry = all.first(where: { $0.format == format })
        else { return nil }
        guard format != .json && format != .jsonl || BodyStart.showsEncoding(start, isWhole: isWhole) else {
            return nil
        }
        if entry.refusesPages, try !BodyStart.refuseHTML(start, isWhole: isWhole) { return nil }
        if format == .xml, let repair { return XMLReader(stream, repair) }
        if known == nil, format == .xml { try BodyStart.refuseOtherThanXML(start) }
        return try entry.makeReader(
            DocumentInput(stream: stream, response: response, dialect: dialect, archive: archive))
    }
}

extension HTMLStreamParser: DocumentReader {}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the position of the first control character or mark, from a position on; the end without one. Checks eight
    /// bytes at a time.
    @inline(__always)
    func firstControl(from start: Int, or mark: UInt8, _ second: UInt8? = nil, _ third: UInt8? = nil) -> Int {
        guard let base = baseAddress else { return start }
        let ones: UInt64 = 0x0101_0101_0101_0101
        // Sets the highest bit of the first byte that is the mark. Bits above it may be wrong.
        func places(of mark: UInt8, in bytes: UInt64) -> UInt64 {
            let difference = bytes ^ ones &* UInt64(mark)
            return (difference &- ones) & ~difference
        }
        var index = start
        while index + 8 <= count {
            let bytes = UInt64(
                littleEndian: UnsafeRawPointer(base).loadUnaligned(fromByteOffset: index, as: UInt64.self))
            var found = (bytes &- ones &* 0x20) & ~bytes | places(of: mark, in: bytes)
            if let second { found |= places(of: second, in: bytes) }
            if let third { found |= places(of: third, in: bytes) }
            found &= ones << 7
            if found != 0 { return index + found.trailingZeroBitCount >> 3 }
            index += 8
        }
        while index < count, base[index] >= 0x20, base[index] != mark, base[index] != second, base[index] != third {
            index += 1
        }
        return index
    }
}

/// Reads XML: the parser does so itself. It may be repaired on its way there.
private final class XMLReader: DocumentReader {
    private let stream: XMLStreamParser
    private let repair: XMLRepair?

    init(_ stream: XMLStreamParser, _ repair: XMLRepair? = nil) {
        self.stream = stream
        self.repair = repair
    }

    func read(_ bytes: UnsafeRawBufferPointer) throws {
        guard let repair else { return try stream.parse(bytes) }
        try repair.read(bytes) { try stream.parse($0) }
    }

    func finish() throws { try repair?.finish { try stream.parse($0) } }
}

/// Reads JSON Lines, a JSON value on each line, while it arrives: the document is the element `jsonl`, and a line's value
/// the element `row`, with what ``JSONReader`` makes of the value. Lines without a value are skipped.
final class JSONLinesReader: DocumentReader {
    private let values: JSONReader
    private let stream: XMLStreamParser
    private let root: XMLStreamParser.ElementName
    private var hasBegun = false

    /// - Parameter stream: the parser that receives the document. It must get no other input.
    init(_ stream: XMLStreamParser) throws {
        self.stream = stream
        root = try stream.elementName("jsonl")
        values = try JSONReader(stream, root: "row")
    }

    /// - Throws: ``DocumentError`` with the number of a line that is no JSON value; also the errors of the parser.
    func read(_ bytes: UnsafeRawBufferPointer) throws {
        try begin()
        var rest = bytes
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try values.read(UnsafeRawBufferPointer(rebasing: rest[..<end]))
            try values.endLine()
            rest = UnsafeRawBufferPointer(rebasing: rest[(end + 1)...])
        }
        if !rest.isEmpty { try values.read(rest) }
    }

    func finish() throws {
        try begin()
        try values.endLine()
        try stream.end(line: stream.line)
    }

    private func begin() throws {
        guard !hasBegun else { return }
        hasBegun = true
        try stream.start(root, line: 1)
    }
}
