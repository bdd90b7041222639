import AsyncHTTPClient
import FeedModel

/// The files of a listing, as one archive that is generated while it is read. Some of them can be read without the others.
protocol ListedSource: Sendable {
    associatedtype File: Sendable

    /// The bytes of all files; nil if unknown.
    var size: Int? { get }

    /// The files, in the order of reading.
    var files: [File] { get set }

    /// Returns a file's name, and a text that changes with the file.
    func version(of file: File) -> (name: [UInt8], version: String)
}

/// A listing whose files are requested one after another while they are read.
protocol RequestedListing: ListedSource {
    var body: HTTPClientResponse.Body { get }
}

extension ListedSource {
    /// Digests of the files' names and versions, in the order of reading.
    var versions: [UInt64] {
        files.map { file in
            let (name, version) = version(of: file)
            var hash = SHA256()
            hash.update(name + [0] + Array(version.utf8))
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
