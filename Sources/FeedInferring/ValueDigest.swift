import FeedConfiguration
import Foundation
import XMLStream

/// Digests of values, equal wherever a store considers the values equal.
enum ValueDigest {
    /// Returns the digest of a value as a column of a type holds it; nil if the value does not convert.
    ///
    /// - Parameter text: trimmed.
    static func digest(_ text: UnsafeBufferPointer<UInt8>, as type: ValueType) -> UInt64? {
        var hasher = Hasher()
        switch type {
        case .text, .xml, .blob:
            hasher.combine(bytes: UnsafeRawBufferPointer(text))
        case .integer, .real, .decimal:
            // 1 and 1.0 are one number, and so are 0 and -0.
            if let exact = Lexical.int(text) {
                hasher.combine(Int64(exact))
                break
            }
            guard let number = Lexical.double(text) else { return nil }
            if let exact = Int64(exactly: number) {
                hasher.combine(exact)
            } else {
                hasher.combine(number)
            }
        case .boolean:
            guard let value = Lexical.boolean(text) else { return nil }
            hasher.combine(value)
        case .date:
            guard let date = Lexical.date(text, ignoresZone: true) else { return nil }
            hasher.combine(Lexical.day(date))
        case .datetime:
            guard let date = Lexical.date(text) else { return nil }
            hasher.combine(Lexical.iso8601(date))
        }
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }

    /// Returns the part of a value in the digest of its record. The digest is the sum of these, in any order.
    static func share(_ value: Int, _ digest: UInt64) -> UInt64 {
        var hasher = Hasher()
        hasher.combine(value)
        hasher.combine(digest)
        return UInt64(bitPattern: Int64(hasher.finalize()))
    }
}

/// The digest of the text read so far, from which that of any part of it follows, however many parts are open.
///
/// A polynomial over the field of 2⁶¹ - 1 elements. White space is left out: texts that differ only there count as equal.
struct RollingDigest {
    private static let prime: UInt64 = 1 << 61 - 1
    private static let base = UInt64.random(in: 1 << 32..<1 << 60)

    private var sum: UInt64 = 0
    private var count = 0

    mutating func append(_ text: some Sequence<UInt8>) {
        for byte in text where byte > 0x20 {
            sum = Self.product(sum, Self.base) + UInt64(byte)
            if sum >= Self.prime { sum -= Self.prime }
            count += 1
        }
    }

    /// Returns the digest of the bytes appended since another state.
    func digest(since start: RollingDigest) -> UInt64 {
        var power: UInt64 = 1
        var square = Self.base
        var exponent = count - start.count
        while exponent > 0 {
            if exponent & 1 == 1 { power = Self.product(power, square) }
            square = Self.product(square, square)
            exponent >>= 1
        }
        let former = Self.product(start.sum, power)
        return sum >= former ? sum - former : sum + Self.prime - former
    }

    private static func product(_ a: UInt64, _ b: UInt64) -> UInt64 {
        let (high, low) = a.multipliedFullWidth(by: b)
        let folded = (low & prime) + (low >> 61 | high << 3)
        return folded >= prime ? folded - prime : folded
    }
}
