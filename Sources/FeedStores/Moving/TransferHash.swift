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
