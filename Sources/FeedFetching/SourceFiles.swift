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
    private let act: (@Sendable (ExchangeContext) async throws -> Void)?

    /// No file, as after an action.
    static let gone = SourceFiles(isEmpty: true, act: nil)

    /// - Parameter act: deletes or moves the files; nil if nothing is to be done with them now.
    init(_ act: (@Sendable (ExchangeContext) async throws -> Void)?) { self.init(isEmpty: false, act: act) }

    private init(isEmpty: Bool, act: (@Sendable (ExchangeContext) async throws -> Void)?) {
        self.isEmpty = isEmpty
        self.act = act
    }

    /// True where something is to be done.
    package var hasAction: Bool { act != nil }

    /// Deletes or moves the files, whose rows are committed.
    ///
    /// - Throws: ``FetchError``; `CancellationError`.
    package func finish(_ context: ExchangeContext) async throws { try await act?(context) }

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
