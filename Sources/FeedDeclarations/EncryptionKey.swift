import Crypto
import Foundation
import XMLStream

/// The key of encrypted columns: 256 bits.
package struct EncryptionKey: Sendable, Equatable {
    package let bytes: [UInt8]

    /// - Parameter text: the key in hexadecimal digits. The result is nil where they are not 32 bytes.
    package init?(hexadecimal text: String) {
        var text = text
        guard let data = text.withUTF8({ Lexical.hexadecimal($0) }), data.count == 32 else { return nil }
        bytes = Array(data)
    }

    /// A name that distinguishes keys and reveals nothing about them.
    package var name: String {
        HMAC<SHA256>.authenticationCode(for: Data("tributary key name".utf8), using: SymmetricKey(data: bytes))
            .prefix(16).map { String(format: "%02x", $0) }.joined()
    }
}
