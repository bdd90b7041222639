import AsyncHTTPClient
package import FeedConfiguration
package import FeedModel
package import Foundation
import NIOCore

/// A body that is read from a file or a file server. Reading blocks the thread.
protocol BodySource: Sendable {
    /// The number of its bytes; nil if unknown.
    var size: Int? { get }

    /// Passes the body to `consume`, in pieces.
    ///
    /// - Parameter check: throws to end the reading. Called between pieces.
    /// - Throws: ``FetchError``; the errors of `check` and `consume`.
    func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws
}

/// A response whose body has not been read.
package struct Exchange: Sendable {
    package var response: FeedResponse
    fileprivate var body: Body
    /// The address of permanent redirects; nil without redirects, or with temporary ones.
    package var movedTo: String?
    /// The origin that answered.
    package var origin = Origin.file
    /// The address that answered; nil for a proxy or a file.
    package var from: IPAddress?

    fileprivate enum Body: Sendable {
        case none
        case http(HTTPClientResponse.Body)
        case listing(any RequestedListing)
        /// Read on a thread of its own, because it may be of a server that does not answer.
        case source(any BodySource)
        /// Read on the caller's thread, because it is beside the store.
        case kept(any BodySource)
    }

    /// The body's size that the server announced, in bytes before decompression.
    package var announcedBytes: Int?

    /// The files of the response, for `after_commit`; nil where nothing is to be done with them.
    package internal(set) var files: SourceFiles?

    /// The body as a client receives it; nil for any other.
    var httpBody: HTTPClientResponse.Body? {
        switch body {
        case .http(let body): body
        case .listing(let listing): listing.body
        case .none, .source, .kept: nil
        }
    }

    /// The files of a listing; nil for another body.
    private var listing: (any ListedSource)? {
        switch body {
        case .listing(let listing): listing
        case .source(let source): source as? any ListedSource
        case .none, .http, .kept: nil
        }
    }

    /// The answer to a request whose files an earlier run has deleted or moved.
    static func gone(_ request: PreparedRequest, at address: String, _ now: Date) -> Exchange {
        var response = request.answer(at: address, Validators(), Validators(), now)
        response.status = 304
        return ofFiles(response, .none, size: nil, .gone)
    }

    private static func ofFiles(_ response: FeedResponse, _ body: Body, size: Int?, _ files: SourceFiles?) -> Exchange {
        var exchange = Exchange(response: response, body: response.status == 304 ? .none : body)
        if response.status != 304 { exchange.announcedBytes = size }
        exchange.files = files
        return exchange
    }

    static func http(_ response: FeedResponse, _ body: HTTPClientResponse.Body) -> Exchange {
        Exchange(
            response: response, body: .http(body),
            announcedBytes: response[header: "Content-Length"].flatMap { Int($0) })
    }

    /// The files of a listing; without a body for a 304.
    static func listing(
        _ response: FeedResponse, _ listing: some RequestedListing, _ files: SourceFiles? = nil
    ) -> Exchange {
        ofFiles(response, .listing(listing), size: listing.size, files)
    }

    /// A body between two offsets of a file that is kept beside the store.
    package static func kept(_ response: FeedResponse, _ handle: FileHandle, _ range: Range<UInt64>) -> Exchange {
        let part = FilePart(handle: handle, range: range, name: response.requestedURL)
        return Exchange(response: response, body: .kept(part), announcedBytes: part.size)
    }

    /// A body that blocks its reader; without it for a 304.
    static func source(
        _ response: FeedResponse, _ source: any BodySource, _ files: SourceFiles? = nil
    ) -> Exchange {
        ofFiles(response, .source(source), size: source.size, files)
    }

    /// True if the body consists of the files of a listing.
    package var isListing: Bool { listing != nil }

    /// Digests of the names and versions of a listing's files, in the order of reading; nil for another body.
    package var versions: [UInt64]? { listing?.versions }

    /// Returns the response with the files of its listing at these positions alone.
    package func selecting(_ positions: [Int]) -> Exchange {
        var exchange = self
        switch listing?.selecting(positions) {
        case let listing as any RequestedListing: exchange.body = .listing(listing)
        case let source as any BodySource & ListedSource: exchange.body = .source(source)
        default: return self
        }
        exchange.announcedBytes = exchange.listing?.size
        return exchange
    }

    /// Returns the provenance of an address that the response names; nil for a file of this machine.
    ///
    /// - Parameter namer: the part of the response that names it, for messages.
    package func provenance(_ namer: String) -> AddressProvenance? {
        origin.isFile ? nil : AddressProvenance(namer: namer, origin: origin, from: from)
    }

    /// Returns the address that answered after redirects, for the subject of a message; empty without redirects.
    ///
    /// - Parameter address: the address without secrets.
    package func redirection(of request: PreparedRequest, shown address: String?) -> String {
        guard let address, response.url != request.address.absoluteString else { return "" }
        // A listing has another address than its folder.
        if case .bucket = request.target { return "" }
        return ", redirected to \(address)"
    }

    /// Passes the body's pieces to `consume`, on the caller's actor. The next pieces of a large body are received
    /// meanwhile.
    ///
    /// - Throws: the errors of `consume` and of the client.
    package func forEachPiece(
        isolation: isolated (any Actor)? = #isolation, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) async throws {
        switch body {
        case .none:
            break
        case .http, .listing:
            guard let body = httpBody else { break }
            // A small body arrives at once, so a task to read ahead saves no time.
            guard announcedBytes ?? .max > ReadAhead.capacity else {
                for try await piece in body {
                    try Task.checkCancellation()
                    try piece.withUnsafeReadableBytes(consume)
                }
                break
            }
            let ahead = ReadAhead()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The closure runs on the caller's actor only because it captures that actor.
                isolation?.assertIsolated()
                defer { group.cancelAll() }
                group.addTask { await ahead.fill(from: body) }
                try await ahead.forEachPiece(consume)
            }
        case .source(let source):
            let ahead = ReadAhead()
            defer { ahead.abandon() }
            try await withTaskCancellationHandler {
                isolation?.assertIsolated()
                Thread.detachNewThread { ahead.fill(from: source) }
                try await ahead.forEachPiece(consume)
            } onCancel: {
                ahead.abandon()
            }
        case .kept(let part):
            try part.forEachPiece(check: Task.checkCancellation, consume)
        }
        // A sequence may end without an error when its reader is cancelled.
        try Task.checkCancellation()
    }
}

/// The bytes between two offsets of a file.
struct FilePart: BodySource {
    private static let pieceSize = 256 << 10

    let handle: FileHandle
    let range: Range<UInt64>
    /// The file's name in messages.
    let name: String
    /// The file's status before it is read. With it, a file that then has another size or time ends the reading with an error;
    /// without it, bytes may be appended meanwhile, and are not read.
    var status: stat?

    var size: Int? { range.count }

    /// Passes the bytes to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError`` if the file changed; the errors of reading, `check` and `consume`.
    func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        try handle.seek(toOffset: range.lowerBound)
        var left = range.count
        while left > 0, let piece = try handle.read(upToCount: min(left, Self.pieceSize)), !piece.isEmpty {
            try check()
            left -= piece.count
            try piece.withUnsafeBytes(consume)
        }
        guard left == 0 else { throw change("became \(left) bytes shorter") }
        guard let status else { return }
        var now = stat()
        guard fstat(handle.fileDescriptor, &now) == 0, now.isUnchanged(since: status) else { throw change("changed") }
    }

    private func change(_ what: String) -> FetchError {
        FetchError(
            .truncated, "\(name): the file \(what) while it was read; write a new file and rename it over the old one")
    }
}
