/// A stack without reference counts. Reading an `Array` in a class retains and releases its buffer, several times for
/// each element, and the parser avoids that.
struct PointerStack<Element>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    /// - Precondition: `index` is below `count`. Every caller knows that from the element that it receives.
    @inline(__always)
    subscript(index: Int) -> Element {
        unsafeAddress { UnsafePointer(base + index) }
        unsafeMutableAddress { base + index }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        if count == capacity { grow() }
        (base + count).initialize(to: element)
        count += 1
    }

    @inline(__always)
    mutating func removeLast(_ number: Int = 1) {
        count -= number
        (base + count).deinitialize(count: number)
    }

    private mutating func grow() {
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: capacity * 2)
        moved.moveInitialize(from: base, count: count)
        base.deallocate()
        base = moved
        capacity *= 2
    }
}
