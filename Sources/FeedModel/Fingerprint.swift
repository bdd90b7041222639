import Foundation

/// A short name for a long text, the same in every process: 64-bit FNV-1a. It neither hides secrets nor resists
/// attacks.
package enum Fingerprint {
    package static func hash(_ text: String) -> UInt64 { hash(text, after: empty) }

    package static func hash(_ bytes: some Sequence<UInt8>, after former: UInt64 = empty) -> UInt64 {
        bytes.reduce(former, step)
    }

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

/// The part of a file's name that tells the source to which it belongs.
package enum SourceFileName {
    /// The longest in bytes. Names of files have 255, and what follows needs some of them.
    private static let longest = 200
    private static let mark: Character = "~"

    /// Returns the source's name with all but letters and digits escaped. Of a long one, the end is replaced by a
    /// fingerprint.
    package static func name(of source: String) -> String {
        // An escaped name has neither a dot nor the mark.
        let name = source.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? source
        guard name.utf8.count > longest else { return name }
        return name.prefix(longest - 17) + String(mark) + Fingerprint.hexadecimal(source)
    }

    /// Returns the fingerprint of the source of a name; nil where it is none.
    package static func fingerprint(of name: some StringProtocol) -> UInt64? {
        if let start = name.lastIndex(of: mark) { return UInt64(name[name.index(after: start)...], radix: 16) }
        return String(name).removingPercentEncoding.map(Fingerprint.hash)
    }
}
