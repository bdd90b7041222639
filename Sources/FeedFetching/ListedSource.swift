import AsyncHTTPClient
import FeedModel

/// A file of a listing.
protocol ListedFile: Sendable {
    /// The path below the folder, in the bytes of the server or file system.
    var path: [UInt8] { get }
    var size: Int { get }
    /// Changes with the file.
    var version: String { get }
}

/// The files of a listing, as one archive that is generated while it is read. Some of them can be read without the others.
protocol ListedSource: Sendable {
    associatedtype File: ListedFile

    /// The files, in the order of reading.
    var files: [File] { get set }
}

/// A listing whose files are requested one after another while they are read.
protocol RequestedListing: ListedSource {
    var body: HTTPClientResponse.Body { get }
}

extension Array where Element: ListedFile {
    /// A digest of the paths and versions.
    var digest: String {
        var hash = SHA256()
        for file in self { hash.update(file.path + [0] + [UInt8](file.version.utf8) + [0]) }
        return hash.digest().hexadecimal
    }
}

extension ListedSource {
    /// The bytes of all files.
    var size: Int? {
        files.reduce(0) { $0.addingReportingOverflow($1.size).overflow ? .max : $0 + $1.size }
    }

    /// Digests of the files' names and versions, in the order of reading.
    var versions: [UInt64] {
        files.map { file in
            var hash = SHA256()
            hash.update(file.path + [0] + Array(file.version.utf8))
            return hash.digest().bytes.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    /// Returns the archive of the files at these positions.
    func selecting(_ positions: [Int]) -> Self {
        var selected = self
        selected.files = positions.map { files[$0] }
        return selected
    }
}
