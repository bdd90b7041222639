import Crypto
package import FeedDeclarations
package import Foundation

/// Encrypts the values of one column: AES-GCM (NIST SP 800-38D) with a 256-bit key.
///
/// A stored value is nonce, ciphertext and tag. The nonce is derived from the value itself and the column's name by a
/// keyed hash, as AES-GCM-SIV does (RFC 8452): the same value gives the same bytes, so that a row that has not changed is
/// not written again, and a nonce meets another value only where HMAC-SHA-256 collides. Who reads the store sees which
/// values of a column are equal, and how long they are.
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
        // Twelve bytes make a nonce, a nonce of twelve bytes makes a combined form, and a 256-bit key is right: none of
        // these can throw.
        let nonce = try! AES.GCM.Nonce(data: Data(code).prefix(12))
        return try! AES.GCM.seal(value, using: key, nonce: nonce, authenticating: label).combined!
    }

    /// - Throws: CryptoKit's error where the bytes were not sealed with this key for this column.
    package func open(_ sealed: Data) throws -> Data {
        try AES.GCM.open(AES.GCM.SealedBox(combined: sealed), using: key, authenticating: label)
    }
}
