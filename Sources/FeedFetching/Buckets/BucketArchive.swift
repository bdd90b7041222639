import AsyncHTTPClient
import FeedConfiguration
import NIOCore

/// The objects of a listing as a tar archive, which is generated while it is read. Each is requested when the one before it
/// has been read.
struct BucketArchive: AsyncSequence, RequestedListing {
    var files: [BucketListing.Object]
    /// Requests an object, and returns its body.
    let open: @Sendable (BucketListing.Object) async throws -> HTTPClientResponse.Body

    var body: HTTPClientResponse.Body { .stream(self) }

    func makeAsyncIterator() -> Iterator { Iterator(rest: files[...], open: open) }

    struct Iterator: AsyncIteratorProtocol {
        private enum Place {
            case between
            case within(BucketListing.Object, HTTPClientResponse.Body.AsyncIterator, left: Int)
            case behind
        }

        private var rest: ArraySlice<BucketListing.Object>
        private let open: @Sendable (BucketListing.Object) async throws -> HTTPClientResponse.Body
        private var place = Place.between

        init(
            rest: ArraySlice<BucketListing.Object>,
            open: @escaping @Sendable (BucketListing.Object) async throws -> HTTPClientResponse.Body
        ) { (self.rest, self.open) = (rest, open) }

        /// - Throws: ``FetchError`` if a transfer breaks off, or an object has changed; the errors of `open`.
        mutating func next() async throws -> ByteBuffer? { try await next(isolation: nil) }

        mutating func next(isolation actor: isolated (any Actor)?) async throws(any Error) -> ByteBuffer? {
            switch place {
            case .between:
                guard let object = rest.popFirst() else {
                    place = .behind
                    return try Self.bytes(TarWriter.finish)
                }
                place = .within(object, try await open(object).makeAsyncIterator(), left: object.size)
                return try Self.bytes { try TarWriter.begin(object.path, size: object.size, $0) }
            case .within(let object, var body, let left):
                if let piece = try await body.next(isolation: actor) {
                    guard piece.readableBytes <= left else { throw object.change }
                    place = .within(object, body, left: left - piece.readableBytes)
                    return piece
                }
                guard left == 0 else { throw object.change }
                place = .between
                let padding = try Self.bytes { try TarWriter.end(size: object.size, $0) }
                return padding.readableBytes > 0 ? padding : try await next(isolation: actor)
            case .behind: return nil
            }
        }

        private static func bytes(
            _ write: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
        ) rethrows -> ByteBuffer {
            var bytes = ByteBuffer()
            try write { bytes.writeBytes($0) }
            return bytes
        }
    }
}

extension BucketListing.Object {
    /// The name, as messages show it.
    var shown: String { "'\(MemberPattern.name(of: path))' in the bucket" }

    /// The error of an object that is not what was listed.
    var change: FetchError { FetchError(.truncated, "\(shown) changed while the listing was read") }
}
