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
        var content = DigestedContent()
        content.append(change.table)
        switch change.operation {
        case .insert:
            content.append("insert")
            let key = Set(change.key.map { $0.lowercased() }).subtracting(change.resolved)
            content.append(change.row.filter { key.contains($0.column.lowercased()) })
        case .update(let old):
            content.append("update")
            content.append(old)
        case .delete:
            content.append("delete")
            content.append(change.row)
        }
        add(content)
    }

    /// Adds a text on which the changes depend.
    package mutating func add(_ text: String) {
        var content = DigestedContent()
        content.append(text)
        add(content)
    }

    private mutating func add(_ content: DigestedContent) {
        let digest = SHA256.digest(of: content.bytes)
        count += 1
        first &+= digest.number(0)
        second &+= digest.number(1)
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

/// The bytes over which a digest is, from which all that was appended can be read.
private struct DigestedContent {
    private(set) var bytes: [UInt8] = []

    mutating func append(_ text: String) {
        append(0, UInt64(text.utf8.count))
        bytes += text.utf8
    }

    mutating func append(_ values: PlannedChange.Values) {
        for (column, value) in values {
            append(column)
            switch value {
            case .null: append(1, 0)
            case .integer(let number): append(2, UInt64(bitPattern: number))
            case .real(let number): append(3, number.bitPattern)
            case .text(let text): append(text)
            case .blob(let data):
                append(4, UInt64(data.count))
                bytes += data
            }
        }
    }

    private mutating func append(_ tag: UInt8, _ number: UInt64) {
        bytes.append(tag)
        withUnsafeBytes(of: number.littleEndian) { bytes += $0 }
    }
}

extension SHA256.Digest {
    /// Returns one of the four numbers of 64 bits that the digest consists of.
    func number(_ index: Int) -> UInt64 { bytes[8 * index..<8 * (index + 1)].reduce(0) { $0 << 8 | UInt64($1) } }
}
