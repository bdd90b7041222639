import CCurl
import FeedConfiguration
import FeedModel
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

/// An entry of a listing.
struct RemoteEntry: Equatable {
    var name: [UInt8]
    /// False for a folder, a link or a device.
    var mayBeFile = true
    var size: Int?
    /// The time of the last change, in seconds since 1970.
    var modified: Int?

    /// Reads a line that is only a name. Some servers write the folder before it.
    init(name: [UInt8]) { self.name = Array(name.split(separator: UInt8(ascii: "/")).last ?? []) }

    /// Reads a line of MLSD (RFC 3659, section 7.2): `type=file;size=25730;modify=19940728095854.1; cap.txt`.
    ///
    /// - Returns: nil for another line.
    init?(facts line: [UInt8]) {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        self.init(name: Array(line[(space + 1)...]))
        var type: String?
        for fact in String(decoding: line[..<space], as: UTF8.self).split(separator: ";") {
            let parts = fact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            switch parts[0].lowercased() {
            case "type": type = parts[1].lowercased()
            case "size": size = Int(parts[1]).flatMap { $0 < 0 ? nil : $0 }
            case "modify": modified = Self.seconds(parts[1])
            default: break
            }
        }
        guard let type else { return nil }
        mayBeFile = type == "file"
    }

    /// Reads a line of `ls -l`, as SFTP servers send it: `-rw-r--r--    1 me users  5 Nov 24 11:18 a.xml`. Ignores its
    /// time, which has no zone and no seconds.
    ///
    /// - Returns: nil for another line.
    init?(line: [UInt8]) {
        // Latin-1 keeps every byte and its position.
        let text = String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
        let form =
            #/([-dlbcpsD])\S{9}\S?\s.*?\s(?:[A-Za-z]{3,9}\s+\d{1,2}|\d{1,2}\s+[A-Za-z]{3,9}|\d{4}-\d{2}-\d{2})\s+(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4})\s(.+)/#
            .matchingSemantics(.unicodeScalar).dotMatchesNewlines()
        guard let match = try? form.wholeMatch(in: text) else { return nil }
        self.init(name: match.2.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        mayBeFile = match.1 == "-"
    }

    /// Returns the time of a fact, `YYYYMMDDHHMMSS` with or without a fraction, in UTC.
    private static func seconds(_ text: Substring) -> Int? {
        let digits = text.prefix { $0 != "." }
        guard digits.utf8.count == 14, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        func number(_ start: Int, _ count: Int) -> Int {
            Int(digits.dropFirst(start).prefix(count)) ?? 0
        }
        var parts = tm()
        parts.tm_year = Int32(number(0, 4) - 1900)
        parts.tm_mon = Int32(number(4, 2) - 1)
        parts.tm_mday = Int32(number(6, 2))
        parts.tm_hour = Int32(number(8, 2))
        parts.tm_min = Int32(number(10, 2))
        parts.tm_sec = Int32(number(12, 2))
        return timegm(&parts)
    }
}
