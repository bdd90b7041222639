package import FeedConfiguration
package import FeedModel
package import Foundation

/// Fetches `sftp:`, `ftps:` and `ftp:` URLs. The time of the last change and the size are the validators; an unchanged
/// file answers 304. The files of a folder are one archive, whose validator is a digest of their names, times and
/// sizes.
package struct RemoteFetcher: Fetcher {
    private let now: @Sendable () -> Date
    private let hosts: HostGate?
    private let addresses: AddressGuard

    /// - Parameter hosts: limits the requests to each host; nil for no limits.
    package init(
        now: @escaping @Sendable () -> Date, hosts: HostGate? = nil, names: any NameLookup = SystemNames()
    ) {
        self.now = now
        self.hosts = hosts
        addresses = AddressGuard(names: names)
    }

    package func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        guard case .server(let address) = request.target else {
            throw FetchError(.address, "\(request.url) cannot be used: it is not an sftp:, ftps: or ftp: URL")
        }
        let origin = request.origin
        try await context.permit?.move(to: origin, mayWait: context.mayWait, context.clock)
        let (servers, provenance) = try await look(up: address, request)
        try await context.waitToSend(to: origin, request, hosts, now: now)
        context.clock?.isConnecting()
        let pattern = address.pattern ?? (address.isFolder ? request.documents : nil)
        guard pattern != nil || !address.isFolder else {
            throw FetchError(
                .address, "\(request.url) names a folder; for the files in it, declare documents = \"*.xml\"")
        }
        do {
            let connection = try CurlConnection(request, address, servers, provenance)
            var exchange =
                if let pattern {
                    try await folder(request, address, pattern, connection, validators)
                } else {
                    try await file(request, address, connection, validators)
                }
            exchange.origin = origin
            exchange.from = connection.server
            return exchange
        } catch is CancellationError {
            throw CancellationError()
        } catch {
            throw FetchError(remote: error, to: request, at: address)
        }
    }

    /// Returns the addresses of the host, and its provenance, if its address is restricted.
    private func look(
        up address: RemoteAddress, _ request: PreparedRequest
    ) async throws -> ([IPAddress], AddressProvenance?) {
        let isFree = request.allowsPrivate || request.provenance?.admitsAll(of: request.origin) ?? false
        let provenance: AddressProvenance?
        do {
            provenance = try await addresses.checked(
                address.url, isFree ? nil : request.provenance, namedBy: nil, isProxied: false)
        } catch let error as AddressGuard.Refusal {
            throw FetchError(remote: error, to: request, at: address)
        }
        let hosts = try await addresses.addresses(of: address.url, isProxied: false)
        guard !hosts.isEmpty else {
            throw FetchError(
                .connection, "\(request.method) \(request.url): the host's name cannot be resolved")
        }
        return (hosts, provenance)
    }

    // MARK: - One file

    private func file(
        _ request: PreparedRequest, _ address: RemoteAddress, _ connection: CurlConnection, _ known: Validators
    ) async throws -> Exchange {
        let status = try await BlockingWork.run { cancellation -> RemoteStatus? in
            do {
                try connection.run(.status, of: address.url.absoluteString, check: cancellation.check)
            } catch let error as CurlFailure where error.isMissing && request.afterCommit != nil {
                return nil
            }
            return RemoteStatus(connection, address)
        }
        let place = address.url.absoluteString
        guard let status else { return .gone(request, at: place, now()) }
        let current = validators(of: [status.modified]) {
            "\(status.modified ?? 0)-\(status.size.map(String.init) ?? "")"
        }
        var response = request.answer(at: place, current, known, headers: current.header, now())
        if let type = FeedResponse.mediaType(ofName: address.url.path) {
            response.headers.append((name: "Content-Type", value: type))
        }
        let listed = status.modified.map {
            RemoteListing.File(path: address.fileName, size: status.size ?? 0, modified: $0)
        }
        let files = files([listed].compactMap(\.self), request, address, connection)
        var file = RemoteFile(connection: connection, request: request, address: address, status: status)
        if response.status == 200, let offset = Self.rest(request, current), let size = status.size, offset < size {
            response.status = 206
            response.headers.append((name: "Content-Range", value: "bytes \(offset)-\(size - 1)/\(size)"))
            file.offset = offset
        }
        return .source(response, file, files)
    }

    /// Returns the offset at which an interrupted transfer continues; nil for a transfer of the whole file, or if the
    /// file has changed.
    private static func rest(_ request: PreparedRequest, _ current: Validators) -> Int? {
        func header(_ name: String) -> String? { request.headers.first { $0.name == name }?.value }
        guard let range = header("Range"), let etag = header("If-Range"), etag == current.etag,
            range.hasPrefix("bytes="), range.hasSuffix("-")
        else { return nil }
        return Int(range.dropFirst("bytes=".count).dropLast())
    }

    // MARK: - A folder

    private func folder(
        _ request: PreparedRequest, _ address: RemoteAddress, _ pattern: MemberPattern,
        _ connection: CurlConnection, _ known: Validators
    ) async throws -> Exchange {
        let oldest = request.oldestFile(at: now())
        let listing = try await BlockingWork.run { cancellation in
            try RemoteListing(connection, address, pattern: pattern, oldest: oldest, check: cancellation.check)
        }
        let place = address.url.absoluteString
        if try request.hasNoFile(among: listing.files, pattern, listing.others) {
            return .gone(request, at: place, now())
        }
        let current = validators(of: listing.files.map(\.modified)) { listing.files.digest }
        return .source(
            request.answer(at: place, current, known, headers: current.header, now()),
            RemoteFolder(
                connection: connection, request: request, address: address, pattern: pattern, files: listing.files),
            files(listing.files, request, address, connection))
    }

    // MARK: - After the commit

    /// Returns the files on which `after_commit` will act: those that have not changed so recently that they may change again
    /// within the same second.
    private func files(
        _ files: [RemoteListing.File], _ request: PreparedRequest, _ address: RemoteAddress,
        _ connection: CurlConnection
    ) -> SourceFiles? {
        guard let action = request.afterCommit else { return nil }
        let latest = now().timeIntervalSince1970 - 2
        let settled = files.filter { Double($0.modified) < latest }
        guard !settled.isEmpty else { return .unsettled }
        return SourceFiles(action, settled) { [hosts, now] context in
            try await context.waitToSend(to: request.origin, request, hosts, now: now)
            try await BlockingWork.run { cancellation in
                try RemoteFinisher(action: action, connection: connection, request: request, address: address).finish(
                    settled, check: cancellation.check)
            }
        }
    }

    // MARK: - Answers

    /// Returns the validators of files; none if a file has no time, or changed so recently that it may change again
    /// within the same second.
    private func validators(of times: [Int?], _ tag: () -> String) -> Validators {
        let latest = now().timeIntervalSince1970 - 2
        guard times.allSatisfy({ $0.map { Double($0) < latest } ?? false }) else { return Validators() }
        return Validators(etag: "\"\(tag())\"")
    }
}

extension Validators {
    /// The entity tag as a header; none without one.
    fileprivate var header: [(name: String, value: String)] { etag.map { [("ETag", $0)] } ?? [] }
}

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
    let pattern: MemberPattern
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

    /// Lists the folder again: a file may change while it is read, and keep its size.
    func end(_ check: () throws -> Void) throws {
        let now: RemoteListing
        do {
            now = try RemoteListing(connection, address, pattern: pattern, oldest: nil, check: check)
        } catch let error as CurlFailure {
            throw FetchError(remote: error, to: request, at: address)
        }
        let present = Dictionary(now.files.map { ($0.path, $0) }) { first, _ in first }
        // A file may be removed once it has been read.
        for file in files {
            if let other = present[file.path], other != file {
                throw change("'\(MemberPattern.name(of: file.path))' in the folder")
            }
        }
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
