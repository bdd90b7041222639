import FeedModel
import FeedConfiguration
import FeedFetching
import FeedParsing
import FeedStaging
import FeedStores
import Foundation
import XMLRecords
import XMLStream

/// Passes a response's body from the network to the reader of its format: decompressed, limited and counted.
final class BodyReader {
    private let decoder: BodyDecoder
    // Kept here because the stream does not retain it.
    private let handler: XMLStreamHandler
    private let stream: XMLStreamParser
    private let response: FeedResponse
    private var dialect: BodyDialect
    private let archive: BodyArchive
    private let guesses: Bool
    /// What the first lines show; nil if they show no more than is known.
    private(set) var guess: FormatGuess?
    private let repair: XMLRepair?
    private var document: (any DocumentReader)?
    /// The body's first bytes, until its format is known; then empty.
    private var start: [UInt8] = []
    private var hash: SHA256?
    private let keeper: BodyKeeper?
    /// The most bytes parsed between two checks for cancellation. A small piece may decompress to a large one.
    private static let stride = 64 << 10

    /// Bytes received, before decompression.
    private(set) var received = 0
    /// Bytes after decompression.
    package var count: Int { max(decoder.count, archive.unpacked) }

    /// - Parameters:
    ///   - handlers: receive the document, one after another for each of its elements.
    ///   - dialect: the declared format, if there is one, and how the publisher writes it.
    ///   - guesses: true to recognise CSV, its delimiter and JSON Lines by the first lines, too.
    ///   - repair: the enabled repairs of XML.
    ///   - digests: true to compute the body's digest.
    ///   - keeper: receives the body, too; nil if bodies are not kept.
    ///   - folder: the folder for the file of a body that is not read in order.
    init(
        _ response: FeedResponse, _ handlers: [XMLStreamHandler], limit: Int, dialect: BodyDialect = BodyDialect(),
        guesses: Bool = false, repair: Set<XMLRepair.Fault> = [], digests: Bool = false, keeper: BodyKeeper? = nil,
        folder: String = NSTemporaryDirectory()
    ) throws {
        decoder = try BodyDecoder(
            contentEncoding: response[header: "Content-Encoding"], limit: limit,
            opensArchives: !DocumentFormat.isArchive(response, declared: dialect.format))
        archive = BodyArchive(folder: folder, limit: limit)
        handler = XMLHandlerList.joining(handlers)
        stream = XMLStreamParser(response, handler: handler)
        self.keeper = keeper
        self.response = response
        self.dialect = dialect
        self.guesses = guesses
        self.repair = repair.isEmpty ? nil : XMLRepair(repair, charset: response.charset)
        if digests { hash = SHA256() }
    }

    /// - Throws: `CancellationError` once the task is cancelled, even within a piece.
    package func read(_ piece: UnsafeRawBufferPointer) throws {
        received += piece.count
        try decoder.decode(piece) { try parse($0) }
    }

    func finish() throws {
        try decoder.finish { try parse($0) }
        try begin(isWhole: true)
        try document?.finish()
        try stream.finish()
    }

    /// The counts of repairs so far.
    var repairs: XMLRepair.Counts { repair?.counts ?? [:] }

    /// SHA-256 of the body after decompression, in hexadecimal digits.
    var digest: String? { hash?.digest().hexadecimal }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            try Task.checkCancellation()
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.stride))
            hash?.update(part)
            try keeper?.append(part)
            if let document {
                try document.read(part)
            } else {
                start.append(contentsOf: part)
                try begin(isWhole: false)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
        }
    }

    /// Chooses the reader by the first bytes, and passes them on.
    private func begin(isWhole: Bool) throws {
        guard document == nil else { return }
        if guesses {
            guard isWhole || start.count >= FormatGuess.longest else { return }
            guess = FormatGuess(start, isWhole: isWhole, known: dialect.format ?? DocumentFormat.format(of: response))
            if let guess {
                dialect.format = guess.format
                dialect.csv.delimiter = guess.delimiter
            }
        }
        document = try DocumentFormat.reader(
            for: start, isWhole: isWhole, of: response, dialect: dialect, archive: archive, stream: stream,
            repair: repair)
        guard let document else { return }
        try start.withUnsafeBytes { try document.read($0) }
        start = []
    }
}

extension FetchError {
    /// Returns the error to report for one thrown while the body was read. Errors of the HTTP client become texts for
    /// users; others stay unchanged.
    static func reading(
        _ error: any Error, request: RequestDeclaration, _ clock: ExchangeClock?
    ) -> any Error {
        switch error {
        case is FetchError, is DocumentError, is SOAPFault, is XMLStreamError, is BindingError, is ParserError,
            is MappingError, is XMLRecordError, is StoreError, is CancellationError:
            error
        default: FetchError(client: error, request: request, clock: clock)
        }
    }
}
