import FeedModel
package import FeedConfiguration
package import Foundation

/// Encrypts the values of one column: AES-GCM (NIST SP 800-38D) with a 256-bit key.
///
/// A stored value is nonce, ciphertext and tag. The nonce is derived from the value itself and the column's name by a
/// keyed hash, as AES-GCM-SIV does (RFC 8452). The same value gives the same bytes, so an unchanged row is not written
/// again. A nonce serves two values only where HMAC-SHA-256 collides. A reader of the store can see which values of a
/// column are equal, and how long they are.
package struct ColumnCipher: Sendable {
    private let cipher: AESGCM
    private let nonceKey: [UInt8]
    private let label: Data

    package init(key: EncryptionKey, table: String, column: String) {
        label = Data("\(table.lowercased()).\(column.lowercased())".utf8)
        cipher = AESGCM(key: HMAC.derivedKey(from: key.bytes, info: "tributary column value"))
        nonceKey = HMAC.derivedKey(from: key.bytes, info: "tributary column nonce")
    }

    package func seal(_ value: Data) -> Data {
        let nonce = HMAC.code(of: label + [0] + value, key: nonceKey).prefix(12)
        return cipher.seal(value, nonce: Array(nonce), label: label)
    }

    /// - Throws: ``AESGCM/Mismatch`` if the bytes were not sealed with this key for this column.
    package func open(_ sealed: Data) throws -> Data { try cipher.open(sealed, label: label) }
}
