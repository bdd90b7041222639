/// A short name for a long text, the same in every process: 64-bit FNV-1a. It neither hides secrets nor resists
/// attacks.
package enum Fingerprint {
    package static func hash(_ text: String) -> UInt64 { hash(text, after: empty) }

    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 { bytes.reduce(empty, step) }

    /// Returns the hash of a text that follows another one, whose hash is known.
    package static func hash(_ text: String, after former: UInt64) -> UInt64 {
        var text = text
        return text.withUTF8 { $0.reduce(former, step) }
    }

    private static func step(_ hash: UInt64, _ byte: UInt8) -> UInt64 { (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }

    /// The hash of no bytes.
    package static let empty: UInt64 = 0xcbf2_9ce4_8422_2325

    package static func hexadecimal(_ text: String) -> String { hexadecimal(hash(text)) }

    package static func hexadecimal(_ hash: UInt64) -> String {
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
