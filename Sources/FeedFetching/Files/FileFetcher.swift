package import FeedConfiguration
package import FeedModel
package import Foundation

/// Fetches `file:` URLs. Modification time and size are the validators; an unchanged file answers 304. The files of a
/// folder are one archive, whose validator is a digest of their names, times and sizes.
package struct FileFetcher: Fetcher {
    let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    package func fetch(
        _ request: PreparedRequest, _ context: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        context.clock?.isOpening()
        // The file may be of a server that does not answer.
        return try await BlockingWork.run { try open(request, validators, $0) }
    }

    private func open(
        _ request: PreparedRequest, _ validators: Validators, _ cancellation: BlockingWork.Cancellation
    ) throws -> Exchange {
        do {
            guard let address = request.file else {
                throw FetchError(.address, "\(request.url) cannot be used: it is not a file: URL")
            }
            let pattern = address.pattern ?? (Self.isFolder(address.path) ? request.documents : nil)
            if let pattern { return try open(request, address.path, pattern, validators, cancellation) }
            // The file is opened before its status is read, because another file may replace it in between.
            let file = try RegularFile(opening: address.path)
            let status = file.status
            let modified = status.modification
            let current = Validators(
                etag: "\"\(modified.tv_sec).\(modified.tv_nsec)-\(status.st_size)\"")
            let response = response(
                to: request, current, validators, type: FeedResponse.mediaType(ofName: address.path))
            guard response.status != 304 else { return .withoutBody(response) }
            let part = FilePart(handle: file.handle, range: 0..<UInt64(status.st_size), name: response.requestedURL)
            return .source(response, part)
        } catch let error as RegularFile.Problem {
            let advice = error == .folder ? "; for the files in it, declare documents = \"**/*.xml\"" : ""
            throw FetchError(.file, "\(request.url) \(error)\(advice)")
        }
    }

    private func open(
        _ request: PreparedRequest, _ path: String, _ pattern: MemberPattern, _ validators: Validators,
        _ cancellation: BlockingWork.Cancellation
    ) throws -> Exchange {
        let oldest = request.oldestFile(at: now())
        let folder = try FolderListing(path, pattern: pattern, oldest: oldest, cancellation)
        guard !folder.files.isEmpty || request.allowsEmpty else {
            throw FetchError(.file, "\(request.url): \(request.shortage(of: pattern, folder.others))")
        }
        let response = response(to: request, Validators(etag: "\"\(folder.digest)\""), validators, type: nil)
        return response.status == 304 ? .withoutBody(response) : .source(response, FolderArchive(folder))
    }

    private func response(
        to request: PreparedRequest, _ current: Validators, _ known: Validators, type: String?
    ) -> FeedResponse {
        FeedResponse(
            requestedURL: request.url.template, url: request.url.value,
            status: !known.isEmpty && known == current ? 304 : 200,
            headers: type.map { [("Content-Type", $0)] } ?? [], fetchedAt: now(), validators: current)
    }

    private static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }
}

extension stat {
    /// The time of the last change.
    var modification: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}

extension PreparedRequest {
    /// Returns the time, in seconds since 1970, before which files of a folder are omitted; nil for none.
    func oldestFile(at now: Date) -> Int? {
        newerThan.map { Int((now.timeIntervalSince1970 - $0.seconds).rounded(.down)) }
    }

    /// Returns the message for a folder without a matching file.
    ///
    /// - Parameter others: some names of other files.
    func shortage(of pattern: MemberPattern, _ others: [String]) -> String {
        let age = newerThan == nil ? "" : " and is newer than 'newer_than' says"
        let found = others.isEmpty ? "no file" : others.map { "'\($0)'" }.joined(separator: ", ")
        return
            "no file of the folder matches '\(pattern.text)'\(age); it holds \(found); set allow_empty = true if that is valid"
    }
}
