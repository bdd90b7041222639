import AsyncHTTPClient
package import FeedDeclarations
package import FeedModel
package import Foundation
import NIOCore

/// A body that is generated while it is read. Reading may block the thread.
protocol BodySource: Sendable {
    /// The number of its bytes; nil if unknown.
    var size: Int? { get }

    /// Passes the body to `consume`, in pieces.
    ///
    /// - Throws: ``FetchError``; `CancellationError`; the errors of `consume`.
    func forEachPiece(_ consume: (UnsafeRawBufferPointer) throws -> Void) throws
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
        case part(FileHandle, Range<UInt64>)
        case source(any BodySource)
    }

    /// The body's size that the server announced, in bytes before decompression.
    package var announcedBytes: Int?

    static func withoutBody(_ response: FeedResponse) -> Exchange { Exchange(response: response, body: .none) }

    static func http(_ response: FeedResponse, _ body: HTTPClientResponse.Body) -> Exchange {
        Exchange(
            response: response, body: .http(body),
            announcedBytes: response[header: "Content-Length"].flatMap { Int($0) })
    }

    /// A body between two offsets of a file. Bytes that are appended to the file meanwhile are not read.
    package static func part(_ response: FeedResponse, _ handle: FileHandle, _ range: Range<UInt64>) -> Exchange {
        Exchange(response: response, body: .part(handle, range), announcedBytes: range.count)
    }

    static func source(_ response: FeedResponse, _ source: any BodySource) -> Exchange {
        Exchange(response: response, body: .source(source), announcedBytes: source.size)
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
        // A small body arrives at once, so a task to read ahead saves no time.
        case .http(let body) where announcedBytes ?? .max > ReadAhead.capacity:
            let ahead = ReadAhead()
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The closure runs on the caller's actor only because it captures that actor.
                isolation?.assertIsolated()
                defer { group.cancelAll() }
                group.addTask { await ahead.fill(from: body) }
                while case let pieces = try await ahead.next(), !pieces.isEmpty {
                    for piece in pieces {
                        try Task.checkCancellation()
                        try piece.withUnsafeReadableBytes(consume)
                    }
                }
            }
        case .http(let body):
            for try await piece in body {
                try Task.checkCancellation()
                try piece.withUnsafeReadableBytes(consume)
            }
        case .source(let source):
            try source.forEachPiece(consume)
        case .part(let handle, let range):
            try handle.seek(toOffset: range.lowerBound)
            var left = range.count
            while left > 0, let piece = try handle.read(upToCount: min(left, 256 << 10)), !piece.isEmpty {
                try Task.checkCancellation()
                left -= piece.count
                try piece.withUnsafeBytes(consume)
            }
            guard left == 0 else {
                throw FetchError(
                    .truncated,
                    "\(response.requestedURL): the file became \(left) bytes shorter while it was read; write a new file "
                        + "and rename it over the old one")
            }
        }
        // A sequence may end without an error when its reader is cancelled.
        try Task.checkCancellation()
    }
}
