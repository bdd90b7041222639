import FeedConfiguration
import Foundation

/// The bytes of a file on a server, from an offset.
struct RemoteFile: BodySource {
    let connection: CurlConnection
    let request: PreparedRequest
    let address: RemoteAddress
    /// The file's size and time, as far as the server reports them.
    let status: RemoteStatus
    var offset = 0

    var size: Int? { status.size.map { $0 - offset } }

    /// Passes the bytes to `consume`, in pieces, as they arrive.
    ///
    /// - Throws: ``FetchError`` if the transfer breaks off, or the file changes meanwhile; the errors of `check` and
    ///   `consume`.
    func forEachPiece(check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard size != 0 else { return }
        let place = address.url.absoluteString
        var received = 0
        do {
            try connection.run(.file(from: offset), of: place, check: check) { piece in
                received += piece.count
                try consume(piece)
            }
            if let size, size != received { throw change }
            try connection.run(.status, of: place, check: check)
        } catch  where error is CurlFailure || error is AddressGuard.Refusal || error is HostKeyRefusal {
            throw FetchError(remote: error, to: request, at: address)
        }
        guard RemoteStatus(connection, address) == status else { throw change }
    }

    private var change: FetchError {
        FetchError(
            .truncated,
            "\(request.method) \(request.url): the file changed while it was read; write new files under another name, and rename "
                + "them")
    }
}

/// The files of a server's folder as a tar archive, which is generated while it is read.
struct RemoteFolder: BlockingListing {
    let connection: CurlConnection
    let request: PreparedRequest
    let address: RemoteAddress
    var files: [RemoteListing.File]

    func read(
        _ file: RemoteListing.File, _ check: () throws -> Void, _ consume: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard file.size > 0 else { return }
        var left = file.size
        let place = "'\(MemberPattern.name(of: file.path))' in the folder"
        do {
            try connection.run(.file(from: 0), of: address.address(of: file.path), check: check) { piece in
                left -= piece.count
                guard left >= 0 else { throw change(place) }
                try consume(piece)
            }
        } catch let error as CurlFailure where error.isMissing {
            throw change(place)
        } catch let error as CurlFailure {
            throw FetchError(remote: error, to: request, at: address).on(place)
        }
        guard left == 0 else { throw change(place) }
    }

    private func change(_ place: String) -> FetchError {
        FetchError(
            .truncated,
            "\(request.url): \(place) changed while the folder was read; write new files under a name that begins with a dot, and "
                + "rename them")
    }
}

/// The size of a file and the time of its last change, in seconds since 1970, as far as a server reports them.
struct RemoteStatus: Sendable, Equatable {
    var size: Int?
    var modified: Int?

    /// Reads the status of a connection's last transfer.
    init(_ connection: CurlConnection, _ address: RemoteAddress) {
        modified = connection.modified
        // libcurl reports no size for an empty file.
        size = connection.size ?? (address.scheme == .sftp ? 0 : nil)
    }
}
