/// The number of a table's rows and a sum of their hashes, in a form that both stores agree on. It does not depend on the
/// order of the rows.
package struct TransferDigest {
    private let kinds: [TransferKind]
    package private(set) var rows = 0
    private var whole = TransferHash.Sum()
    private var columns: [TransferHash.Sum]

    package init(_ kinds: [TransferKind]) {
        self.kinds = kinds
        columns = kinds.map { _ in TransferHash.Sum() }
    }

    package mutating func add(_ row: TransferRow) {
        rows += 1
        var hash = TransferHash()
        for (index, kind) in kinds.enumerated() {
            var value = TransferHash()
            row.hash(index, as: kind, into: &value)
            columns[index] += value.sum
            hash.combine(value)
        }
        whole += hash.sum
    }

    package func equals(_ other: TransferDigest) -> Bool {
        rows == other.rows && whole == other.whole && columns == other.columns
    }

    /// Returns the positions of the columns whose values are not the same.
    package func differences(from other: TransferDigest) -> [Int] {
        columns.indices.filter { columns[$0] != other.columns[$0] }
    }
}

extension TransferRow {
    /// The types of values that never are equal.
    private enum Tag: UInt64 {
        case null, integer, real, text, blob
    }

    /// Hashes a value in the form in which both stores have it.
    func hash(_ column: Int, as kind: TransferKind, into hash: inout TransferHash) {
        let value = values[column]
        if value == .null { return hash.combine(Tag.null.rawValue) }
        switch kind {
        case .dynamic:
            switch value {
            case .null: break
            case .integer(let integer): hash.combine(integer: integer)
            // SQL holds an integer and a real of the same value for equal.
            case .real(let real): Int64(exactly: real).map { hash.combine(integer: $0) } ?? hash.combine(real: real)
            case .text(let range): self.hash(.text, range, into: &hash)
            case .blob(let range): self.hash(.blob, range, into: &hash)
            }
        case .text:
            if case .text(let range) = value { return self.hash(.text, range, into: &hash) }
            self.hash(otherThanText: value, into: &hash)
        case .bytes:
            switch value {
            case .text(let range), .blob(let range): self.hash(.blob, range, into: &hash)
            case .integer, .real, .null: hash.combine(text: canonical(value), tag: Tag.blob.rawValue)
            }
        case .integer:
            if case .integer(let integer) = value { return hash.combine(integer: integer) }
            if case .real(let real) = value, let integer = Int64(exactly: real) {
                return hash.combine(integer: integer)
            }
            let text = canonical(value)
            Int64(text).map { hash.combine(integer: $0) } ?? hash.combine(text: text, tag: Tag.text.rawValue)
        case .real, .single:
            let text = canonical(value)
            guard let number = number(value) ?? Double(text) else {
                return hash.combine(text: text, tag: Tag.text.rawValue)
            }
            hash.combine(real: kind == .single ? Double(Float(number)) : number)
        case .timestamp(let isZoned):
            if case .text(let range) = value,
                let time = withBytes(range, { CanonicalText.microseconds($0, isZoned: isZoned) })
            {
                return hash.combine(integer: time)
            }
            hash.combine(text: canonical(value), tag: Tag.text.rawValue)
        case .boolean: hash.combine(text: CanonicalText.boolean(canonical(value)), tag: Tag.text.rawValue)
        case .numeric: hash.combine(text: CanonicalText.decimal(canonical(value)), tag: Tag.text.rawValue)
        case .json: hash.combine(text: CanonicalText.json(canonical(value)), tag: Tag.text.rawValue)
        case .padded: hash.combine(text: CanonicalText.unpadded(canonical(value)), tag: Tag.text.rawValue)
        case .uuid: hash.combine(text: CanonicalText.uuid(canonical(value)), tag: Tag.text.rawValue)
        }
    }

    private func hash(_ tag: Tag, _ range: Range<Int>, into hash: inout TransferHash) {
        hash.combine(tag.rawValue)
        withBytes(range) { hash.combine($0) }
    }

    private func hash(otherThanText value: Value, into hash: inout TransferHash) {
        if case .blob(let range) = value { return self.hash(.blob, range, into: &hash) }
        hash.combine(text: canonical(value), tag: Tag.text.rawValue)
    }

    private func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let integer): Double(integer)
        case .real(let real): real
        case .null, .text, .blob: nil
        }
    }

    /// The value as text; a blob in hexadecimal digits.
    private func canonical(_ value: Value) -> String {
        switch value {
        case .null: ""
        case .integer(let integer): String(integer)
        // As servers write it.
        case .real(let real): real.isInfinite ? (real < 0 ? "-Infinity" : "Infinity") : "\(real)"
        case .text(let range): text(range)
        case .blob(let range): withBytes(range) { $0.map { CanonicalText.hexadecimal($0) }.joined() }
        }
    }
}

extension TransferHash {
    fileprivate mutating func combine(integer: Int64) {
        combine(1)
        combine(UInt64(bitPattern: integer))
    }

    /// Both zeros are equal, and so are all that are no number.
    fileprivate mutating func combine(real: Double) {
        combine(2)
        combine((real.isNaN ? Double.nan : real == 0 ? 0 : real).bitPattern)
    }

    fileprivate mutating func combine(text: String, tag: UInt64) {
        combine(tag)
        var text = text
        text.withUTF8 { combine(UnsafeRawBufferPointer($0)) }
    }
}

/// A hash of 128 bits, for one process: its key is another in the next.
struct TransferHash {
    private var first = Hasher()
    private var second = Hasher()

    init() { second.combine(true) }

    mutating func combine(_ number: UInt64) {
        first.combine(number)
        second.combine(number)
    }

    mutating func combine(_ bytes: UnsafeRawBufferPointer) {
        first.combine(bytes: bytes)
        second.combine(bytes: bytes)
    }

    mutating func combine(_ other: TransferHash) {
        let sum = other.sum
        first.combine(sum.first)
        second.combine(sum.second)
    }

    var sum: Sum {
        Sum(
            first: UInt64(bitPattern: Int64(first.finalize())), second: UInt64(bitPattern: Int64(second.finalize())))
    }

    /// A sum of hashes, which does not depend on their order.
    struct Sum: Equatable {
        var first: UInt64 = 0
        var second: UInt64 = 0

        static func += (left: inout Sum, right: Sum) {
            left.first &+= right.first
            left.second &+= right.second
        }
    }
}
