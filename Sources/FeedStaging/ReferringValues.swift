import Foundation
package import GRDB

/// The distinct values of a column that refers to another table, as long as they are few. NULL refers to nothing.
///
/// It has a hash table of its own because it is used for each row: a `Set` would need an allocation each time.
package struct ReferringValues {
    /// The most distinct values. Their total length is limited, too.
    static let limit = 4096
    private static let capacity = 256 << 10

    /// Values in the format of a batch, one after another.
    private var bytes: [UInt8] = []
    private var ranges: [Range<Int>] = []
    /// A hash table of indexes into `ranges`, twice as large as the limit, with linear probing; -1 for a free slot.
    private var slots = [Int16](repeating: -1, count: 2 * limit)
    private var isOverfull = false

    /// The values; nil if there are too many, or where one cannot be bound in a query.
    package var all: [DatabaseValue]? {
        guard !isOverfull else { return nil }
        let values = bytes.withUnsafeBytes { bytes in
            ranges.compactMap { RowBatch.value(at: bytes.baseAddress! + $0.lowerBound) }
        }
        return values.count == ranges.count ? values : nil
    }

    /// - Parameter value: a value in the format of a batch, with its tag.
    mutating func note(_ value: UnsafeRawBufferPointer) {
        guard !isOverfull else { return }
        // Seeded: the values are the feed's, and could be made to collide.
        var hasher = Hasher()
        hasher.combine(bytes: value)
        var slot = hasher.finalize() & (slots.count - 1)
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
