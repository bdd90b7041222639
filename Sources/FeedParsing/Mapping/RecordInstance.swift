import FeedConfiguration

/// The values gathered so far for one record: bytes as found, all in one block of memory. A value that is joined or
/// replaced has its own memory.
final class RecordInstance {
    /// The most bytes of the values of one record: as many as one value of an expression may have.
    static let limit = ExpressionDatabase.longestValue

    private struct Found {
        /// The start of the value in the block.
        var offset = Found.nothing
        var count = 0

        static let nothing = -1
        /// The offset of a value that has its own memory.
        static let elsewhere = -2
    }

    /// Not retained: the layout outlives its instances, and this is read for every value.
    let layoutReference: Unmanaged<RecordLayout>
    var layout: RecordLayout { layoutReference.takeUnretainedValue() }
    /// True for each slot that keeps the first of several values.
    private let keepsFirst: UnsafeMutablePointer<Bool>
    /// True for each slot for which the layout knows that records have further values.
    private let hasFurther: UnsafeMutablePointer<Bool>
    @exclusivity(unchecked) private(set) var depth = 0
    @exclusivity(unchecked) private(set) var line = 0
    @exclusivity(unchecked) private var bytes: UnsafeMutablePointer<UInt8>
    private static let leastCapacity = 64
    @exclusivity(unchecked) private var capacity = leastCapacity
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var found: UnsafeMutablePointer<Found>
    private let slots: Int
    private let memory: RecordMemory
    /// Values that have been joined or replaced, by slot.
    private var grown: [Int: [UInt8]] = [:]
    /// The bytes of ``grown``.
    private var grownCount = 0
    /// True if values were dropped because the record exceeded ``limit``, or all records together exceeded
    /// ``RecordMemory/limit``.
    private(set) var isTooLarge = false

    /// The memory that the instance takes, approximately.
    var footprint: Int { capacity + 2 * grownCount + slots * (MemoryLayout<Found>.stride + 2) + 256 }

    init(layout: RecordLayout) {
        layoutReference = .passUnretained(layout)
        keepsFirst = .allocate(capacity: max(layout.slots.count, 1))
        for (index, slot) in layout.slots.enumerated() {
            (keepsFirst + index).initialize(to: slot.column.repetition == .first)
        }
        slots = layout.slots.count
        hasFurther = .allocate(capacity: max(slots, 1))
        hasFurther.initialize(repeating: false, count: max(slots, 1))
        memory = layout.memory
        bytes = .allocate(capacity: capacity)
        found = .allocate(capacity: max(slots, 1))
        found.initialize(repeating: Found(), count: max(slots, 1))
    }

    /// The bytes that the instance has taken of ``memory``.
    private var taken: Int { isWaiting ? 0 : capacity - Self.leastCapacity + grownCount }

    /// True while the record waits for a value after it. ``MappingHandler/waitingBytes`` then counts its memory, and
    /// not that of the open records.
    var isWaiting = false {
        willSet {
            guard newValue != isWaiting else { return }
            let bytes = capacity - Self.leastCapacity + grownCount
            if newValue { memory.giveBack(bytes) } else { memory.hold(bytes) }
        }
    }

    deinit {
        memory.giveBack(taken)
        bytes.deallocate()
        found.deallocate()
        keepsFirst.deallocate()
        hasFurther.deallocate()
    }

    /// The number by which records of other tables refer to this one.
    @exclusivity(unchecked) var record: Int64 = 0

    func begin(depth: Int, line: Int) {
        self.depth = depth
        self.line = line
        count = 0
        found.update(repeating: Found(), count: slots)
        if isTooLarge { isTooLarge = false }
        if grownCount > 0 {
            memory.giveBack(grownCount)
            grown = [:]
            grownCount = 0
        }
    }

    func forget(_ slot: Int) { found[slot] = Found() }

    @inline(__always)
    func has(_ slot: Int) -> Bool { found[slot].offset != Found.nothing }

    /// The slot's bytes; nil if nothing has been found. Valid until the instance changes.
    @inline(__always)
    subscript(slot: Int) -> UnsafeBufferPointer<UInt8>? {
        let found = found[slot]
        if found.offset >= 0 { return UnsafeBufferPointer(start: bytes + found.offset, count: found.count) }
        if found.offset == Found.elsewhere { return gather(slot) }
        return nil
    }

    /// Moves all values into the block, where they stay until the instance changes.
    func gather() {
        guard !grown.isEmpty else { return }
        for slot in grown.keys.sorted() { _ = self[slot] }
    }

    /// Moves a value that has grown into the block.
    private func gather(_ slot: Int) -> UnsafeBufferPointer<UInt8>? {
        guard let value = grown.removeValue(forKey: slot) else { return nil }
        giveBack(value.count)
        value.withUnsafeBufferPointer { set($0, slot) }
        guard found[slot].offset >= 0 else { return nil }
        return UnsafeBufferPointer(start: bytes + found[slot].offset, count: found[slot].count)
    }

    /// Takes a value that has been found, following the column's rule for several values. Where the first counts, an
    /// empty one yields to a later one that is not.
    @inline(__always)
    func take(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        if !has(slot) { return set(value, slot) }
        if !keepsFirst[slot] { return takeFurther(value, slot) }
        guard !value.isEmpty else { return }
        if found[slot].count == 0 { set(value, slot) } else if !hasFurther[slot] { noteFurther(slot) }
    }

    private func noteFurther(_ slot: Int) {
        hasFurther[slot] = true
        layout.furtherValues.insert(slot)
    }

    /// True if another value for the slot would be used.
    func mayTake(_ slot: Int) -> Bool { !has(slot) || !keepsFirst[slot] || found[slot].count == 0 }

    private func takeFurther(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        let column = layout.slots[slot].column
        let isJoined = column.repetition == .join
        // In place: a copy for each further value would cost the square of their number.
        var joined =
            grown.removeValue(forKey: slot) ?? (isJoined ? Array(self[slot] ?? .init(start: nil, count: 0)) : [])
        if found[slot].offset == Found.elsewhere { giveBack(joined.count) }
        if isJoined {
            joined.append(contentsOf: column.separator.utf8)
        } else {
            joined.removeAll(keepingCapacity: true)
        }
        let length = joined.count + value.count
        if count + grownCount + length <= Self.limit, memory.take(length) {
            joined.append(contentsOf: value)
            grownCount += length
        } else {
            isTooLarge = true
            joined = []
        }
        grown[slot] = joined
        found[slot].offset = Found.elsewhere
    }

    @inline(__always)
    func set(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        if count + value.count > capacity { guard grow(to: count + value.count) else { return } }
        if let base = value.baseAddress { (bytes + count).update(from: base, count: value.count) }
        found[slot] = Found(offset: count, count: value.count)
        count += value.count
    }

    private func giveBack(_ bytes: Int) {
        grownCount -= bytes
        memory.giveBack(bytes)
    }

    /// - Returns: false if the record is too large. Its layout refuses it when it has ended.
    private func grow(to needed: Int) -> Bool {
        guard needed + grownCount <= Self.limit else {
            isTooLarge = true
            return false
        }
        let larger = min(max(min(capacity * 2, capacity + 4 << 20), needed), Self.limit)
        guard memory.take(larger - capacity) else {
            isTooLarge = true
            return false
        }
        capacity = larger
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        moved.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = moved
        return true
    }
}
