/// A growable run of plain values, emptied and filled again for every record. It has no reference counts and no bounds
/// checks, because every index into it comes from itself.
struct FlatArray<Element: BitwiseCopyable>: ~Copyable {
    private(set) var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int = 64) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit { base.deallocate() }

    @inline(__always)
    subscript(index: Int) -> Element {
        unsafeAddress { UnsafePointer(base + index) }
        unsafeMutableAddress { base + index }
    }

    @inline(__always)
    subscript(index: Int32) -> Element {
        unsafeAddress { UnsafePointer(base + Int(index)) }
        unsafeMutableAddress { base + Int(index) }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        (base + count).initialize(to: element)
        count += 1
    }

    @inline(__always)
    mutating func append(repeating element: Element, count number: Int) {
        if count + number > capacity { grow(to: count + number) }
        (base + count).initialize(repeating: element, count: number)
        count += number
    }

    @inline(__always)
    mutating func append(contentsOf elements: UnsafeBufferPointer<Element>) {
        guard let start = elements.baseAddress else { return }
        if count + elements.count > capacity { grow(to: count + elements.count) }
        (base + count).initialize(from: start, count: elements.count)
        count += elements.count
    }

    /// Removes all values and keeps the memory.
    @inline(__always)
    mutating func removeAll() { count = 0 }

    private mutating func grow(to needed: Int) {
        let larger = max(capacity * 2, needed)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
        moved.moveInitialize(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
