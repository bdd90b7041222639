import Foundation

/// The files that a response was read from, on which `after_commit` acts once their rows are committed.
///
/// A file that is gone counts as done. One that has changed since it was listed stays: the next run reads it.
package struct SourceFiles: Sendable {
    /// True where there was no file: nothing is new, and no row changes.
    package let isEmpty: Bool
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
    static func taken(_ name: String, _ folder: String) -> FetchError {
        FetchError(
            .file, "'\(name)' cannot be moved to '\(folder)': there is a file of its name and time",
            advice: "move that one away")
    }
}
