import Crypto
import FeedStore
import Foundation

/// One response's body on its way from the network to the parser: decompressed, limited, counted, and, where it is JSON, turned
/// into XML.
final class BodyReader {
    private let decoder: BodyDecoder
    private let parser: any BodyParser
    private var json: JSONTranscoder?
    private var isDecided = false
    /// What the Content-Type says; nil without one: then the first character decides.
    private let isDeclaredJSON: Bool?
    private var hash: SHA256?

    /// Bytes received, before decompression.
    private(set) var received = 0
    /// Bytes after decompression.
    var count: Int { decoder.count }

    /// - Parameter digests: whether the body's digest will be asked for.
    init(_ response: FeedResponse, parser: any BodyParser, limit: Int, digests: Bool = false) throws {
        decoder = try BodyDecoder(contentEncoding: response[header: "Content-Encoding"], limit: limit)
        self.parser = parser
        let type = response[header: "Content-Type"]?.lowercased().prefix { $0 != ";" }
        isDeclaredJSON = type.map { $0.hasPrefix("application/json") || $0.hasSuffix("+json") }
        if digests { hash = SHA256() }
    }

    func read(_ piece: UnsafeRawBufferPointer) throws {
        received += piece.count
        try decoder.decode(piece) { try parse($0) }
    }

    func finish() throws {
        try decoder.finish { try parse($0) }
        if let last = try json?.finish() { try last.withUnsafeBytes { try parser.parse($0) } }
        try parser.finish()
    }

    /// SHA-256 of the body after decompression, in hexadecimal digits.
    var digest: String? { hash.map { $0.finalize().map { String(format: "%02x", $0) }.joined() } }

    private func parse(_ bytes: UnsafeRawBufferPointer) throws {
        hash?.update(bufferPointer: bytes)
        if !isDecided, !bytes.isEmpty {
            isDecided = true
            if isDeclaredJSON ?? JSONTranscoder.isJSON(bytes) { json = JSONTranscoder() }
        }
        guard json != nil else { return try parser.parse(bytes) }
        try json?.transcode(bytes).withUnsafeBytes { try parser.parse($0) }
    }
}
