import CNettle
package import Foundation

/// AES-256-GCM (NIST SP 800-38D), with nonces of 12 bytes and tags of 16.
package struct AESGCM: Sendable {
    /// The error of bytes that were not sealed with this key and label, or have been changed.
    package struct Mismatch: Error {}

    private static let nonceCount = 12
    private static let tagCount = 16
    private let key: [UInt8]

    /// - Parameter key: 32 bytes.
    package init(key: [UInt8]) {
        precondition(key.count == 32)
        self.key = key
    }

    /// Encrypts a value.
    ///
    /// - Parameters:
    ///   - nonce: 12 bytes, which serve one value and label only.
    ///   - label: bytes that the tag authenticates beside the value.
    /// - Returns: nonce, ciphertext and tag.
    package func seal(_ value: Data, nonce: [UInt8], label: Data) -> Data {
        precondition(nonce.count == Self.nonceCount)
        let (encrypted, tag) = convert(Array(value), nonce, label, with: nettle_gcm_aes256_encrypt)
        return Data(nonce + encrypted + tag)
    }

    /// Decrypts what ``seal(_:nonce:label:)`` returned.
    ///
    /// - Throws: ``Mismatch``.
    package func open(_ sealed: Data, label: Data) throws -> Data {
        let sealed = Array(sealed)
        guard sealed.count >= Self.nonceCount + Self.tagCount else { throw Mismatch() }
        let encrypted = Array(sealed.dropFirst(Self.nonceCount).dropLast(Self.tagCount))
        let (value, tag) = convert(
            encrypted, Array(sealed.prefix(Self.nonceCount)), label, with: nettle_gcm_aes256_decrypt)
        guard nettle_memeql_sec(tag, Array(sealed.suffix(Self.tagCount)), Self.tagCount) != 0 else { throw Mismatch() }
        return Data(value)
    }

    private typealias Convert = (
        UnsafeMutablePointer<gcm_aes256_ctx>?, Int, UnsafeMutablePointer<UInt8>?, UnsafePointer<UInt8>?
    ) -> Void

    /// - Returns: the converted bytes, and the tag.
    private func convert(
        _ bytes: [UInt8], _ nonce: [UInt8], _ label: Data, with convert: Convert
    ) -> ([UInt8], tag: [UInt8]) {
        // The context holds a table of 4 KiB.
        let context = UnsafeMutablePointer<gcm_aes256_ctx>.allocate(capacity: 1)
        defer { context.deallocate() }
        nettle_gcm_aes256_set_key(context, key)
        nettle_gcm_aes256_set_iv(context, nonce.count, nonce)
        nettle_gcm_aes256_update(context, label.count, Array(label))
        let converted = [UInt8].written(bytes.count) { convert(context, $1, $0, bytes) }
        return (converted, .written(Self.tagCount) { nettle_gcm_aes256_digest(context, $1, $0) })
    }
}
