import AsyncHTTPClient
package import FeedConfiguration
import FeedModel
import Foundation

/// The files that a response was read from, on which `after_commit` acts once their rows are committed.
///
/// A file that is gone counts as done. One that has changed since it was listed stays: the next run reads it.
package struct SourceFiles: Sendable {
    /// True where there was no file: nothing is new, and no row changes.
    package let isEmpty: Bool
    /// The origin that has them.
    package var origin = Origin.file
    private let work: Work?

    private struct Work: Sendable {
        let action: FileAction
        let count: Int
        /// The names of the first files.
        let names: [String]
        let act: @Sendable (ExchangeContext) async throws -> Void
    }

    /// The most named files, and the most characters of a name.
    private static let (mostNamed, longestName) = (3, 100)

    /// No file, as after an action.
    static let gone = SourceFiles(isEmpty: true, work: nil)
    /// Files with which nothing is done yet.
    static let unsettled = SourceFiles(isEmpty: false, work: nil)

    /// - Parameter act: deletes or moves the files.
    init(
        _ action: FileAction, _ files: [some ListedFile],
        _ act: @escaping @Sendable (ExchangeContext) async throws -> Void
    ) {
        let names = files.prefix(Self.mostNamed).map {
            MemberPattern.name(of: $0.path).shortened(to: Self.longestName)
        }
        self.init(isEmpty: false, work: Work(action: action, count: files.count, names: names, act: act))
    }

    private init(isEmpty: Bool, work: Work?) {
        self.isEmpty = isEmpty
        self.work = work
    }

    /// True where something is to be done.
    package var hasAction: Bool { work != nil }

    /// Returns what is done with the files: `deletes 4 files: a.xml, b.xml, c.xml and 1 more`; nil for nothing.
    ///
    /// - Parameter isPlanned: true for a plan, which does not do it.
    package func note(isPlanned: Bool) -> String? {
        guard let work else { return nil }
        let files = work.count == 1 ? "1 file" : "\(work.count) files"
        let more = work.count - work.names.count
        let names = work.names.joined(separator: ", ") + (more > 0 ? " and \(more) more" : "")
        return switch work.action {
        case .delete: "\(isPlanned ? "would delete" : "deletes") \(files): \(names)"
        case .move(let folder): "\(isPlanned ? "would move" : "moves") \(files) to '\(folder)': \(names)"
        }
    }

    /// Deletes or moves the files, whose rows are committed.
    ///
    /// - Throws: ``FetchError``; `CancellationError`.
    package func finish(_ context: ExchangeContext) async throws { try await work?.act(context) }

    /// Returns the name of a moved file where its own is taken: with the time of its last change.
    static func otherName(_ name: [UInt8], modified: Int) -> [UInt8] {
        let time = Date(timeIntervalSince1970: Double(modified)).formatted(
            Date.ISO8601FormatStyle(dateSeparator: .omitted, timeSeparator: .omitted))
        return name + Array(".\(time)".utf8)
    }

    /// The error of a file whose names in the target are both taken.
    static let taken = FetchError(
        .file, "there is a file of its name and time", advice: "move that one away")
}

extension FileAction {
    /// Returns the beginning of an error: a file, and that the action on it failed.
    func failure(on file: String) -> String {
        switch self {
        case .delete: "\(file) cannot be deleted after its commit"
        case .move(let folder): "\(file) cannot be moved to '\(folder)' after its commit"
        }
    }
}

extension PreparedRequest {
    /// Returns the answer with files: 304 if their version is the stored one.
    ///
    /// - Parameters:
    ///   - current: the version of the files.
    ///   - known: the stored version.
    func answer(
        at address: String, _ current: Validators, _ known: Validators, headers: [(name: String, value: String)] = [],
        _ now: Date
    ) -> FeedResponse {
        FeedResponse(
            requestedURL: url.template, url: address, status: !known.isEmpty && known == current ? 304 : 200,
            headers: headers, fetchedAt: now, validators: current)
    }

    /// Returns true if an earlier run has deleted or moved all files of a folder.
    ///
    /// - Parameter others: some names of files that do not match.
    /// - Throws: ``FetchError`` if there is no file, and must be one.
    func hasNoFile(
        among files: [some ListedFile], _ pattern: MemberPattern, _ others: [String]
    ) throws(FetchError) -> Bool {
        guard files.isEmpty, afterCommit == nil else { return files.isEmpty }
        guard !allowsEmpty else { return false }
        let age = newerThan == nil ? "" : " and is newer than 'newer_than' says"
        let found = others.isEmpty ? "no file" : others.map { "'\($0)'" }.joined(separator: ", ")
        throw FetchError(
            .file,
            "\(url): no file of the folder matches '\(pattern.text)'\(age); it holds \(found); set allow_empty = true if "
                + "that is valid")
    }

    /// Returns the time, in seconds since 1970, before which files of a folder are omitted; nil for none.
    func oldestFile(at now: Date) -> Int? {
        newerThan.map { Int((now.timeIntervalSince1970 - $0.seconds).rounded(.down)) }
    }
}

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
