import Foundation

/// The end of a program's output.
struct ProgramOutput: Sendable, Equatable {
    /// The most shown bytes. Twice as many are kept: a secret whose beginning is not kept cannot be found, so the first
    /// half is dropped after the redaction.
    private static let mostShown = 1_000
    private static let mostKept = 2 * mostShown

    private var bytes = Data()
    /// True if output was dropped.
    private var isCut = false

    mutating func append(_ data: Data) {
        bytes += data
        guard bytes.count > Self.mostKept else { return }
        bytes = Data(bytes.suffix(Self.mostKept))
        isCut = true
    }

    /// Returns the end in one line.
    ///
    /// - Parameter redact: removes secrets.
    func text(_ redact: (String) -> String) -> String {
        var text = redact(String(decoding: bytes, as: UTF8.self))
        if isCut {
            // Drops a partial character.
            let end = text.utf8.dropFirst(Self.mostShown).suffix(Self.mostShown).drop { $0 & 0xC0 == 0x80 }
            text = String(decoding: end, as: UTF8.self)
        }
        return text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
