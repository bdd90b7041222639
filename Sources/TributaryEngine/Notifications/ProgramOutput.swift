import Foundation

/// The end of what a program has printed.
struct ProgramOutput: Sendable, Equatable {
    /// The bytes that are shown at most. Twice as many are kept: a secret whose first letters are not kept could not be found
    /// and removed, so that the first half goes after all others have been removed.
    private static let mostShown = 1_000
    private static let mostKept = 2 * mostShown

    private var bytes = Data()
    /// True where not all is kept.
    private var isCut = false

    mutating func append(_ data: Data) {
        bytes += data
        guard bytes.count > Self.mostKept else { return }
        bytes = Data(bytes.suffix(Self.mostKept))
        isCut = true
    }

    /// Returns the end in one line, for people.
    ///
    /// - Parameter redact: removes secrets.
    func text(_ redact: (String) -> String) -> String {
        var text = redact(String(decoding: bytes, as: UTF8.self))
        if isCut {
            // A character of which a part is dropped goes as a whole.
            let end = text.utf8.dropFirst(Self.mostShown).suffix(Self.mostShown).drop { $0 & 0xC0 == 0x80 }
            text = String(decoding: end, as: UTF8.self)
        }
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
