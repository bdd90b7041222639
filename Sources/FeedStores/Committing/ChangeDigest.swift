package import FeedModel
import Foundation

/// A sum of hashes of the changes that a commit would make to the rows of a store, by which a later commit of the same
/// documents sees whether it would change other rows. It does not depend on the order of the changes, and is the same in
/// every process.
///
/// Of an updated or deleted row it has the values that the store has. Of a new one it has the key, without values that
/// the commit finds in other rows: a server draws other numbers for these each time. The other new values follow from the
/// documents.
package struct ChangeDigest: Sendable, Equatable, Codable {
    private var count = 0
    private var first: UInt64 = 0
    private var second: UInt64 = 0

    package init() {}

    package mutating func add(_ change: PlannedChange) {
        var hash = StableHash()
        hash.combine(change.table)
        switch change.operation {
        case .insert:
            hash.combine("insert")
            let key = Set(change.key.map { $0.lowercased() }).subtracting(change.resolved)
            hash.combine(change.row.filter { key.contains($0.column.lowercased()) })
        case .update(let old):
            hash.combine("update")
            hash.combine(old)
        case .delete:
            hash.combine("delete")
            hash.combine(change.row)
        }
        count += 1
        first &+= hash.first.mixed
        second &+= hash.second.mixed
    }

    /// Adds a text on which the changes depend.
    package mutating func add(_ text: String) {
        var hash = StableHash()
        hash.combine(text)
        count += 1
        first &+= hash.first.mixed
        second &+= hash.second.mixed
    }

    /// The digest as text, for an address.
    package var text: String { [UInt64(count), first, second].map { String($0, radix: 36) }.joined(separator: "-") }

    /// - Returns: nil for a text that ``text`` does not give.
    package init?(_ text: some StringProtocol) {
        let numbers = text.split(separator: "-", omittingEmptySubsequences: false).map { UInt64($0, radix: 36) }
        guard numbers.count == 3, let count = numbers[0].flatMap({ Int(exactly: $0) }), let first = numbers[1],
            let second = numbers[2]
        else { return nil }
        (self.count, self.first, self.second) = (count, first, second)
    }
}

/// Two hashes of 64 bits by FNV-1a, which begin differently.
private struct StableHash {
    private(set) var first: UInt64 = 0xcbf2_9ce4_8422_2325
    private(set) var second: UInt64 = 0x6c62_272e_07bb_0142

    mutating func combine(_ text: String) {
        for byte in text.utf8 { combine(byte) }
        combine(0xff as UInt8)
    }

    mutating func combine(_ values: PlannedChange.Values) {
        for (column, value) in values {
            combine(column)
            switch value {
            case .null: combine(0 as UInt8)
            case .integer(let number): combine(1, UInt64(bitPattern: number))
            case .real(let number): combine(2, number.bitPattern)
            case .text(let text):
                combine(3, UInt64(text.utf8.count))
                combine(text)
            case .blob(let data):
                combine(4, UInt64(data.count))
                for byte in data { combine(byte) }
            }
        }
    }

    private mutating func combine(_ tag: UInt8, _ number: UInt64) {
        combine(tag)
        withUnsafeBytes(of: number.littleEndian) { for byte in $0 { combine(byte) } }
    }

    private mutating func combine(_ byte: UInt8) {
        first = (first ^ UInt64(byte)) &* 0x100_0000_01b3
        second = (second ^ UInt64(byte) &+ 0x9e) &* 0x100_0000_01b3
    }
}

extension UInt64 {
    /// The number with all bits depending on all (the finalizer of MurmurHash3), so that sums of hashes differ.
    var mixed: UInt64 {
        var hash = self
        hash = (hash ^ (hash >> 33)) &* 0xff51_afd7_ed55_8ccd
        hash = (hash ^ (hash >> 33)) &* 0xc4ce_b9fe_1a85_ec53
        return hash ^ (hash >> 33)
    }
}
