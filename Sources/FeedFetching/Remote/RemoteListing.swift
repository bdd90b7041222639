import CCurl
import FeedModel
import FeedConfiguration
import Foundation

/// The files of a server's folder whose names match a pattern, at the time of the listing. Links and names that begin
/// with a dot are skipped.
struct RemoteListing: Sendable {
    struct File: ListedFile, Equatable {
        var path: [UInt8]
        var size: Int
        /// The time of the last change, in seconds since 1970.
        var modified: Int

        var version: String { "\(size) \(modified)" }
    }

    /// The files that match, by their names' bytes.
    private(set) var files: [File] = []
    /// Some names of files that do not match, or are too old.
    private(set) var others: [String] = []

    /// - Parameters:
    ///   - oldest: the time in seconds since 1970 before which files are omitted; nil for none.
    ///   - check: throws to end the listing.
    /// - Throws: ``FetchError``, ``CurlFailure``; the errors of `check`.
    init(
        _ connection: CurlConnection, _ address: RemoteAddress, pattern: MemberPattern, oldest: Int?,
        check: () throws -> Void
    ) throws {
        for entry in try Self.entries(connection, address, check) {
            guard entry.mayBeFile, let first = entry.name.first, first != UInt8(ascii: ".") else { continue }
            let shown = MemberPattern.name(of: entry.name)
            guard pattern.matches(shown) else {
                note(shown)
                continue
            }
            guard !entry.name.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
                throw FetchError(.file, "the name '\(shown)' in the folder has a control character in it")
            }
            guard let file = try Self.file(entry, connection, address, check) else { continue }
            if let oldest, file.modified < oldest {
                note(shown)
            } else {
                files.append(file)
            }
        }
        files.sort { $0.path.lexicographicallyPrecedes($1.path) }
    }

    private mutating func note(_ name: String) { if others.count < 3 { others.append(name) } }

    // MARK: - Reading

    private static func entries(
        _ connection: CurlConnection, _ address: RemoteAddress, _ check: () throws -> Void
    ) throws -> [RemoteEntry] {
        func lines(_ transfer: CurlConnection.Transfer) throws -> [[UInt8]] {
            var lines = ListedLines()
            try connection.run(transfer, of: address.url.absoluteString, check: check) { try lines.append($0) }
            return try lines.finish()
        }
        do {
            // libcurl returns the attributes of SFTP only as text.
            let parsed = try lines(address.scheme == .sftp ? .lines : .facts).map {
                address.scheme == .sftp ? RemoteEntry(line: $0) : RemoteEntry(facts: $0)
            }
            if !parsed.contains(nil) { return parsed.compactMap(\.self) }
        } catch let error as CurlFailure where error.isUnknownCommand {
            // The server does not implement MLSD.
        }
        return try lines(.names).map { RemoteEntry(name: $0) }
    }

    /// Returns a file with the values that the listing lacks; nil if it is no file, or was removed.
    private static func file(
        _ entry: RemoteEntry, _ connection: CurlConnection, _ address: RemoteAddress, _ check: () throws -> Void
    ) throws -> File? {
        if let size = entry.size, let modified = entry.modified {
            return File(path: entry.name, size: size, modified: modified)
        }
        let place = "'\(MemberPattern.name(of: entry.name))' in the folder"
        do {
            try connection.run(.status, of: address.address(of: entry.name), check: check)
        } catch let error as CurlFailure where error.isMissing {
            return nil
        } catch let error as CurlFailure {
            throw FetchError(.file, "the server does not tell the size and the time of \(place): \(error.text)")
        }
        guard let modified = connection.modified else {
            throw FetchError(.file, "the server does not tell the time of \(place)")
        }
        // libcurl reports no size for an empty file.
        guard let size = connection.size ?? (address.scheme == .sftp ? 0 : nil) else {
            throw FetchError(.file, "the server does not tell the size of \(place)")
        }
        return File(path: entry.name, size: size, modified: modified)
    }
}

/// The lines of a listing, as they arrive.
private struct ListedLines {
    private static let longestLine = 8192

    private var lines: [[UInt8]] = []
    private var line: [UInt8] = []

    mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        for byte in bytes {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                guard line.count <= Self.longestLine else {
                    throw FetchError(
                        .decoding, "the answer is no listing: a line has more than \(Self.longestLine) bytes")
                }
                continue
            }
            try endLine()
        }
    }

    mutating func finish() throws -> [[UInt8]] {
        try endLine()
        return lines
    }

    private mutating func endLine() throws {
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        if !line.isEmpty { lines.append(line) }
        line = []
        guard lines.count <= FolderListing.limit else {
            throw FetchError(.tooLarge, "the folder has more than \(FolderListing.limit) names")
        }
    }
}
