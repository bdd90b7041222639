import Crypto
import FeedFetching
import FeedModel
import FeedParsing
import FeedStaging
import FeedStores
import Foundation

/// Passes a response's body from the network to the parser: decompressed, limited and counted. Reads JSON as if it were
/// XML.
final class BodyReader {
    private let decoder: BodyDecoder
    private let parser: any BodyParser
    private var json: JSONReader?
    /// The body's first bytes, until they show whether it is JSON; then nil.
    private var start: [UInt8]? = []
    private let isDeclaredJSON: Bool
    private var hash: SHA256?
    private let keeper: BodyKeeper?
    /// The most bytes parsed between two checks for cancellation, as a small piece may decompress to a large one.
    private static let stride = 64 << 10

    /// Bytes received, before decompression.
    private(set) var received = 0
    /// Bytes after decompression.
    package var count: Int { decoder.count }

    /// - Parameters:
    ///   - digests: true to compute the body's digest.
    ///   - keeper: takes the body, too, where it is kept.
    init(
        _ response: FeedResponse, parser: any BodyParser, limit: Int, digests: Bool = false,
        keeper: BodyKeeper? = nil
    ) throws {
        decoder = try BodyDecoder(contentEncoding: response[header: "Content-Encoding"], limit: limit)
        self.parser = parser
        self.keeper = keeper
        let type = response[header: "Content-Type"]?.lowercased().prefix { $0 != ";" && $0 != " " } ?? ""
        isDeclaredJSON = type == "application/json" || type == "text/json" || type.hasSuffix("+json")
        if digests { hash = SHA256() }
    }

    /// - Throws: `CancellationError` once the task is cancelled, however much of the piece is left.
    package func read(_ piece: UnsafeRawBufferPointer) throws {
        received += piece.count
        try decoder.decode(piece) { try parse($0) }
    }

    func finish() throws {
        try decoder.finish { try parse($0) }
        try decide(isWhole: true)
        try json?.finish()
        try parser.finish()
    }

    /// SHA-256 of the body after decompression, in hexadecimal digits.
    var digest: String? { hash.map { $0.finalize().map { String(format: "%02x", $0) }.joined() } }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes
        while !rest.isEmpty {
            try Task.checkCancellation()
            let part = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.stride))
            hash?.update(bufferPointer: part)
            try keeper?.append(part)
            if start != nil {
                start?.append(contentsOf: part)
                try decide(isWhole: false)
            } else {
                try handOn(part)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(part.count))
        }
    }

    /// Decides from the first bytes whether the body is JSON, and passes them on.
    private func decide(isWhole: Bool) throws {
        guard let bytes = start else { return }
        var skipped = 0
        switch try BodyStart.find(in: bytes, isDeclaredJSON: isDeclaredJSON, isWhole: isWhole) {
        case .undecided: return
        case .xml: break
        case .json(let mark):
            json = try JSONReader(parser.streams)
            skipped = mark
        }
        start = nil
        try bytes[skipped...].withUnsafeBytes { try handOn($0) }
    }

    private func handOn(_ bytes: UnsafeRawBufferPointer) throws {
        if let json { try json.read(bytes) } else { try parser.parse(bytes) }
    }
}
