import FeedModel

/// Decodes bodies: `gzip` and `deflate`, declared by a header or shown by the first bytes, and the single file of a ZIP
/// archive. The limit counts decoded bytes, because a small body may decode to a large one.
package final class BodyDecoder {
    private enum Coding {
        case undecided([UInt8])
        case identity
        case compressed(Inflater)
        case archive(ZipArchive)
    }

    private let limit: Int
    private let isDeflate: Bool
    private let opensArchives: Bool
    private var coding = Coding.undecided([])

    /// Compressed bytes read so far. The limit applies to them, too, because compressed data may decode to nothing.
    private var passed = 0

    /// Decoded bytes so far.
    package private(set) var count = 0
    /// The decoded bytes at the end of the last complete member of a gzip body; nil within the first member.
    private var countAtEnd: Int?

    /// - Parameters:
    ///   - contentEncoding: the header's value, if there is one (RFC 9110, section 8.4).
    ///   - opensArchives: false to pass a ZIP archive on unchanged.
    package init(contentEncoding: String?, limit: Int, opensArchives: Bool = true) throws {
        self.limit = limit
        self.opensArchives = opensArchives
        let codings = (contentEncoding ?? "").lowercased().split(separator: ",").map { $0.filter { !$0.isWhitespace } }
            .filter { $0 != "identity" && !$0.isEmpty }
        guard codings.count <= 1, codings.allSatisfy({ ["gzip", "x-gzip", "deflate"].contains($0) }) else {
            throw FetchError(
                .decoding, "the body's Content-Encoding '\(contentEncoding ?? "")' is neither gzip nor deflate")
        }
        isDeflate = codings.first == "deflate"
    }

    /// Decodes the bytes and passes the result to `body`, in pieces.
    package func decode(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch coding {
        case .identity:
            try deliver(bytes, body)
        case .compressed(let inflater):
            passed += bytes.count
            guard passed <= limit else { throw tooLarge }
            try inflate(bytes, with: inflater, body)
        case .archive(let archive):
            passed += bytes.count
            guard passed <= limit else { throw tooLarge }
            try archive.read(bytes) { try deliver($0, body) }
        case .undecided(let start):
            let start = start + bytes
            guard start.count >= 4 else { return coding = .undecided(start) }
            coding = try decided(start)
            try start.withUnsafeBytes { try decode($0, body) }
        }
    }

    /// - Throws: ``FetchError`` if a compressed body is cut off.
    package func finish(_ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        switch coding {
        case .undecided(let start):
            coding = try decided(start)
            try start.withUnsafeBytes { try decode($0, body) }
            try finish(body)
        case .compressed(let inflater) where !inflater.isAtEnd:
            throw FetchError(.truncated, "the compressed body is truncated; the request is repeated later")
        case .archive(let archive):
            try archive.finish()
        case .identity, .compressed:
            break
        }
    }

    /// Returns the coding that the first bytes show. The header does not suffice: a server may declare gzip and send
    /// plain XML, or declare no coding and send a `.gz` file.
    private func decided(_ start: [UInt8]) throws -> Coding {
        if opensArchives, ZipArchive.isArchive(start) { return .archive(ZipArchive()) }
        guard start.count >= 2 else { return .identity }
        let isGzip = start[0] == 0x1F && start[1] == 0x8B
        if isGzip { return .compressed(try Inflater(.gzip, name: "gzip")) }
        guard isDeflate else { return .identity }
        // Some servers send the data without zlib's header (RFC 9110, section 8.4.1.2).
        let isZlib = start[0] & 0x0F == 8 && (Int(start[0]) << 8 | Int(start[1])) % 31 == 0
        return .compressed(try Inflater(isZlib ? .zlib : .raw, name: "deflate"))
    }

    private func inflate(
        _ bytes: UnsafeRawBufferPointer, with inflater: Inflater, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var rest = bytes
        while !rest.isEmpty {
            if inflater.isAtEnd {
                // Zeros after the end are padding, which gzip(1) skips, too.
                rest = UnsafeRawBufferPointer(rebasing: rest.drop { $0 == 0 })
                guard let next = rest.first else { return }
                if inflater.format == .gzip, next != 0x1F { throw hasMore }
                // A gzip file may consist of several, one after another (RFC 1952, section 2.2).
                inflater.reset()
                countAtEnd = count
            }
            let used: Int
            do {
                used = try inflater.inflate(rest) { try deliver($0, body) }
            } catch let error as FetchError where error.code == .decoding && countAtEnd == count {
                throw hasMore
            }
            guard used > 0 else { throw FetchError(.decoding, "the body cannot be decompressed") }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(used))
        }
    }

    private func deliver(_ bytes: UnsafeRawBufferPointer, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        count += bytes.count
        guard count <= limit else { throw tooLarge }
        try body(bytes)
    }

    private var hasMore: FetchError {
        FetchError(.decoding, "the compressed body ends after \(count) decompressed bytes, and other bytes follow")
    }

    private var tooLarge: FetchError {
        FetchError(.tooLarge, "the body is larger than max_body, \(ByteSize.text(limit)); raise max_body")
    }
}
