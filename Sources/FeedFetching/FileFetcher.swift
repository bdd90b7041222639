package import FeedDeclarations
package import FeedModel
package import Foundation

/// Fetches `file:` URLs. Modification time and size are the validators; a file with both unchanged answers 304.
package struct FileFetcher: Fetcher {
    let now: @Sendable () -> Date

    package init(now: @escaping @Sendable () -> Date) {
        self.now = now
    }

    package func fetch(
        _ request: RequestDeclaration, _: ExchangeContext, validators: Validators, movedTo: String?
    ) async throws -> Exchange {
        do {
            // Opened before its status is read, as another file may be renamed over it in between.
            let path = try FileAddress(request.url.value).path
            let file = try RegularFile(opening: path)
            let status = file.status
            let modified = status.modification
            let current = Validators(
                etag: "\"\(modified.tv_sec).\(modified.tv_nsec)-\(status.st_size)\"")
            let isUnchanged = !validators.isEmpty && validators == current
            let response = FeedResponse(
                requestedURL: request.url.template, url: request.url.value, status: isUnchanged ? 304 : 200,
                headers: Self.mediaType(of: path).map { [("Content-Type", $0)] } ?? [], fetchedAt: now(),
                validators: current)
            return isUnchanged ? .withoutBody(response) : .part(response, file.handle, 0..<UInt64(status.st_size))
        } catch let error as WebAddress.Problem {
            throw FetchError(.address, "\(request.url) cannot be asked: \(error)")
        } catch let error as RegularFile.Problem {
            throw FetchError(.file, "the file \(request.url) \(error)")
        }
    }

    /// Returns the media type that a web server would send with a file, where the bytes alone would not tell it.
    package static func mediaType(of path: String) -> String? {
        var name = path.lowercased()
        if name.hasSuffix(".gz") { name.removeLast(3) }
        return switch name.split(separator: "/").last?.split(separator: ".").last {
        case "csv": "text/csv"
        case "tsv", "tab": "text/tab-separated-values"
        case "jsonl", "ndjson": "application/x-ndjson"
        default: nil
        }
    }
}

extension stat {
    fileprivate var modification: timespec {
        #if canImport(Darwin)
            st_mtimespec
        #else
            st_mtim
        #endif
    }
}
