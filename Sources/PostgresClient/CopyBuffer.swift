import Foundation

/// Memory for rows on their way out. It grows to the largest row that it has held.
final class CopyBuffer {
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { bytes.deallocate() }

    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    func removeAll() { count = 0 }

    @inline(__always) func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        reserve(source.count)
        memcpy(bytes + count, start, source.count)
        count += source.count
    }

    @inline(__always) private func reserve(_ size: Int) {
        if count + size > capacity { grow(size) }
    }

    private func grow(_ size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: bytes, byteCount: count)
        bytes.deallocate()
        bytes = larger
    }
}
