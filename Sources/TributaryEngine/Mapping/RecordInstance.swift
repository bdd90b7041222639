/// The values gathered so far for one record: bytes as they were found, each slot's in one block of memory.
final class RecordInstance {
    private struct Found {
        var offset = -1
        var count = 0
    }

    /// Not retained: the plan outlives its instances, and this is read for every value.
    let planReference: Unmanaged<RecordPlan>
    var plan: RecordPlan { planReference.takeUnretainedValue() }
    /// Which slots keep the first of several values.
    private let keepsFirst: UnsafeMutablePointer<Bool>
    @exclusivity(unchecked) private(set) var depth = 0
    @exclusivity(unchecked) private(set) var line = 0
    @exclusivity(unchecked) private var bytes: UnsafeMutablePointer<UInt8>
    @exclusivity(unchecked) private var capacity = 256
    @exclusivity(unchecked) private(set) var count = 0
    @exclusivity(unchecked) private var found: UnsafeMutablePointer<Found>
    private let slots: Int

    init(plan: RecordPlan) {
        planReference = .passUnretained(plan)
        keepsFirst = .allocate(capacity: max(plan.slots.count, 1))
        for (index, slot) in plan.slots.enumerated() {
            (keepsFirst + index).initialize(to: slot.column.repetition == .first)
        }
        slots = plan.slots.count
        bytes = .allocate(capacity: capacity)
        found = .allocate(capacity: max(slots, 1))
        found.initialize(repeating: Found(), count: max(slots, 1))
    }

    deinit {
        bytes.deallocate()
        found.deallocate()
        keepsFirst.deallocate()
    }

    /// By which records of other tables refer to it.
    @exclusivity(unchecked) var record: Int64 = 0

    func begin(depth: Int, line: Int) {
        self.depth = depth
        self.line = line
        count = 0
        found.update(repeating: Found(), count: slots)
    }

    func forget(_ slot: Int) { found[slot] = Found() }

    @inline(__always)
    func has(_ slot: Int) -> Bool { found[slot].offset >= 0 }

    /// The slot's bytes; nil where nothing has been found. Valid until the instance changes.
    @inline(__always)
    subscript(slot: Int) -> UnsafeBufferPointer<UInt8>? {
        let found = found[slot]
        return found.offset < 0 ? nil : UnsafeBufferPointer(start: bytes + found.offset, count: found.count)
    }

    /// Takes a value that has been found, by the column's rule for several.
    @inline(__always)
    func take(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        if !has(slot) { return set(value, slot) }
        if !keepsFirst[slot] { takeFurther(value, slot) }
    }

    private func takeFurther(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        let column = plan.slots[slot].column
        switch column.repetition {
        case .first: break
        case .last: set(value, slot)
        case .join:
            let joined = Array(self[slot]!) + Array(column.separator.utf8) + Array(value)
            joined.withUnsafeBufferPointer { set($0, slot) }
        }
    }

    @inline(__always)
    func set(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int) {
        if count + value.count > capacity { grow(to: count + value.count) }
        if let base = value.baseAddress { (bytes + count).update(from: base, count: value.count) }
        found[slot] = Found(offset: count, count: value.count)
        count += value.count
    }

    private func grow(to needed: Int) {
        capacity = max(capacity * 2, needed)
        let moved = UnsafeMutablePointer<UInt8>.allocate(capacity: capacity)
        moved.update(from: bytes, count: count)
        bytes.deallocate()
        bytes = moved
    }
}
