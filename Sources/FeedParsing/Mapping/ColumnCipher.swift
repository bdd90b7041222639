import Crypto
package import FeedDeclarations
package import Foundation

/// Encrypts the values of one column: AES-GCM (NIST SP 800-38D) with a 256-bit key.
///
/// A stored value is nonce, ciphertext and tag. The nonce is derived from the value itself and the column's name by a
/// keyed hash, as AES-GCM-SIV does (RFC 8452). The same value gives the same bytes, so an unchanged row is not written
/// again. A nonce serves two values only where HMAC-SHA-256 collides. A reader of the store can see which values of a
/// column are equal, and how long they are.
package struct ColumnCipher: Sendable {
    private let key: SymmetricKey
    private let nonceKey: SymmetricKey
    private let label: Data

    package init(key: EncryptionKey, table: String, column: String) {
        let root = SymmetricKey(data: key.bytes)
        label = Data("\(table.lowercased()).\(column.lowercased())".utf8)
        func derived(_ purpose: String) -> SymmetricKey {
            HKDF<SHA256>.deriveKey(
                inputKeyMaterial: root, info: Data("tributary \(purpose)".utf8), outputByteCount: 32)
        }
        self.key = derived("column value")
        nonceKey = derived("column nonce")
    }

    func seal(_ value: Data) -> Data {
        let code = HMAC<SHA256>.authenticationCode(for: label + [0] + value, using: nonceKey)
        // None of these can throw: twelve bytes make a nonce, a nonce of twelve bytes has a combined form, and a key of
        // 256 bits is valid.
        let nonce = try! AES.GCM.Nonce(data: Data(code).prefix(12))
        return try! AES.GCM.seal(value, using: key, nonce: nonce, authenticating: label).combined!
    }

    /// - Throws: CryptoKit's error where the bytes were not sealed with this key for this column.
    package func open(_ sealed: Data) throws -> Data {
        try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: label)
    }
}
