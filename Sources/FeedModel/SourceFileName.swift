import Foundation

/// The part of a file's name that identifies its source.
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

    /// Returns the fingerprint of the source in a name; nil without one.
    package static func fingerprint(of name: some StringProtocol) -> UInt64? {
        if let start = name.lastIndex(of: mark) { return UInt64(name[name.index(after: start)...], radix: 16) }
        return String(name).removingPercentEncoding.map(Fingerprint.hash)
    }
}
