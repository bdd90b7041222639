/// A short name for a long text, the same in every process: 64-bit FNV-1a. It neither hides secrets nor resists
/// attacks.
package enum Fingerprint {
    package static func hash(_ text: String) -> UInt64 { hash(text.utf8) }

    package static func hash(_ bytes: some Sequence<UInt8>) -> UInt64 {
        bytes.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01b3 }
    }

    package static func hexadecimal(_ text: String) -> String {
        let digits = String(hash(text), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
