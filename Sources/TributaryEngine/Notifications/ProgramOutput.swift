import Foundation

/// The end of a program's output.
struct ProgramOutput: Sendable, Equatable {
    /// The most shown bytes.
    private static let mostShown = 1_000
    /// The length of the longest secret that is found, that of the longest environment variable. A secret whose beginning
    /// is not kept cannot be found, so as many bytes are kept and dropped after the redaction.
    private static let longestSecret = 128 << 10
    private static let mostKept = longestSecret + mostShown

    private var bytes = Data()
    /// True if output was dropped.
    private var isCut = false

    mutating func append(_ data: Data) {
        bytes += data
        guard bytes.count > 2 * Self.mostKept else { return }
        bytes = Data(bytes.suffix(Self.mostKept))
        isCut = true
    }

    /// Returns the end in one line.
    ///
    /// - Parameter redact: removes secrets.
    func text(_ redact: (String) -> String) -> String {
        let text = redact(String(decoding: bytes, as: UTF8.self)).utf8
        let end = text.dropFirst(isCut ? Self.longestSecret : 0).suffix(Self.mostShown)
        // Drops a partial character.
        return String(decoding: end.drop { $0 & 0xC0 == 0x80 }, as: UTF8.self).split(whereSeparator: \.isNewline).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
        .filter { !$0.isEmpty }.joined(separator: "; ")
    }
}
