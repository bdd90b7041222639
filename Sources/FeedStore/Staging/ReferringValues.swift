import FeedModel
import Foundation
import GRDB

/// The different values of a column that refers to another table, as long as they are few. NULL refers to nothing.
///
/// A hash table of its own because each row asks it: a `Set` would want an allocation for that.
struct ReferringValues {
    /// More values, or longer ones all in all, are not told apart.
    static let limit = 4096
    private static let capacity = 256 << 10

    /// Values as a batch holds them, one behind the other.
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = []
    /// Twice the limit of numbers of ranges, found by linear probing; -1 where there is none.
    private var slots = [Int16](repeating: -1, count: 2 * limit)
    private var isOverfull = false

    /// The values; nil where there are too many, or one that cannot be asked for.
    var all: [DatabaseValue]? {
        guard !isOverfull else { return nil }
        let values = bytes.withUnsafeBytes { bytes in
            ranges.compactMap { RowBatch.value(at: bytes.baseAddress! + $0.lowerBound) }
        }
        return values.count == ranges.count ? values : nil
    }

    /// - Parameter value: a value as a batch holds it, with its tag.
    mutating func note(_ value: UnsafeRawBufferPointer) {
        guard !isOverfull else { return }
        var slot = Int(truncatingIfNeeded: Fingerprint.hash(value)) & (slots.count - 1)
        while slots[slot] >= 0 {
            let range = ranges[Int(slots[slot])]
            let isKnown = bytes.withUnsafeBytes { bytes in
                range.count == value.count
                    && memcmp(bytes.baseAddress! + range.lowerBound, value.baseAddress!, value.count) == 0
            }
            if isKnown { return }
            slot = (slot + 1) & (slots.count - 1)
        }
        guard ranges.count < Self.limit, bytes.count + value.count <= Self.capacity else {
            isOverfull = true
            return
        }
        slots[slot] = Int16(ranges.count)
        ranges.append(bytes.count..<bytes.count + value.count)
        bytes.append(contentsOf: value)
    }
}
