import FeedStore
import Foundation

/// `file:` URLs. Modification time and size are the validators; a file that has both unchanged answers 304.
struct FileFetcher: Fetcher {
    let now: @Sendable () -> Date

    func fetch(_ request: RequestDeclaration, validators: Validators, movedTo: String?) async throws -> Exchange {
        guard let path = URL(string: request.url.value)?.path else {
            throw FetchError(.file, "\(request.url) is not a file: URL")
        }
        do {
            // Opened before it is described: a file renamed over it in between is another file.
            let handle = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
            var status = stat()
            guard fstat(handle.fileDescriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
                throw FetchError(.file, "the file \(request.url) is not a regular file")
            }
            let modified = status.modification
            let current = Validators(
                etag: "\"\(modified.tv_sec).\(modified.tv_nsec)-\(status.st_size)\"")
            let isUnchanged = !validators.isEmpty && validators == current
            let response = FeedResponse(
                requestedURL: request.url.template, url: request.url.value, status: isUnchanged ? 304 : 200,
                headers: [], fetchedAt: now(),
                validators: current)
            return isUnchanged ? .withoutBody(response) : .file(response, handle, size: Int(status.st_size))
        } catch let error as FetchError {
            throw error
        } catch {
            let why = FileManager.default.fileExists(atPath: path) ? "cannot be read" : "does not exist"
            throw FetchError(.file, "the file \(request.url) \(why)")
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
