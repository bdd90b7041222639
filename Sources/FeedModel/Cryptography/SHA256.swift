import CNettle
package import Foundation

/// SHA-256 (FIPS 180-4), computed in pieces.
package struct SHA256: Sendable {
    /// A digest of 32 bytes. Two digests are compared in constant time.
    package struct Digest: Sendable, Equatable {
        package let bytes: [UInt8]

        /// The digest as 64 lower-case hexadecimal digits.
        package var hexadecimal: String { bytes.hexadecimal }

        package static func == (one: Digest, other: Digest) -> Bool {
            nettle_memeql_sec(one.bytes, other.bytes, one.bytes.count) != 0
        }
    }

    static let byteCount = 32
    private var context = sha256_ctx()

    package init() { nettle_sha256_init(&context) }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        nettle_sha256_update(&context, bytes.count, bytes.bindMemory(to: UInt8.self).baseAddress)
    }

    package mutating func update(_ data: some ContiguousBytes) { data.withUnsafeBytes { update($0) } }

    /// Returns the digest of the bytes so far.
    package func digest() -> Digest {
        var context = context
        return Digest(bytes: .written(Self.byteCount) { nettle_sha256_digest(&context, $1, $0) })
    }

    package static func digest(of data: some ContiguousBytes) -> Digest {
        var hash = SHA256()
        hash.update(data)
        return hash.digest()
    }
}

/// HMAC-SHA-256 (RFC 2104).
package enum HMAC {
    /// Returns the code of 32 bytes of a message.
    package static func code(of message: some ContiguousBytes, key: some ContiguousBytes) -> [UInt8] {
        var context = hmac_sha256_ctx()
        key.withUnsafeBytes { key in
            nettle_hmac_sha256_set_key(&context, key.count, key.bindMemory(to: UInt8.self).baseAddress)
        }
        message.withUnsafeBytes { message in
            nettle_hmac_sha256_update(&context, message.count, message.bindMemory(to: UInt8.self).baseAddress)
        }
        return .written(SHA256.byteCount) { nettle_hmac_sha256_digest(&context, $1, $0) }
    }

    /// Derives a key of 32 bytes from another (HKDF, RFC 5869, without a salt).
    ///
    /// - Parameter info: distinguishes the keys that are derived from one.
    package static func derivedKey(from key: some ContiguousBytes, info: String) -> [UInt8] {
        let extracted = code(of: key, key: [UInt8](repeating: 0, count: SHA256.byteCount))
        return code(of: Array(info.utf8) + [1], key: extracted)
    }
}

extension [UInt8] {
    /// The bytes as lower-case hexadecimal digits.
    package var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Returns bytes that a C function writes.
    ///
    /// - Parameter write: receives the address of the bytes and their count.
    static func written(_ count: Int, _ write: (UnsafeMutablePointer<UInt8>?, Int) -> Void) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
            write(buffer.baseAddress, count)
            written = count
        }
    }
}
