/// A growable run of values with a movable end, like a stack, filled again for each element or record.
///
/// It has no reference counts: reading an `Array` in a class retains and releases its buffer, several times for each
/// element. It has no bounds checks either: every index into it comes from itself. Public, because the functions of a
/// package's own level are not inlined in other modules.
@frozen public struct FlatArray<Element>: ~Copyable {
    @usableFromInline var base: UnsafeMutablePointer<Element>
    @usableFromInline var end = 0
    @usableFromInline var capacity: Int

    @inlinable public var count: Int { end }

    @inlinable
    public init(capacity: Int = 64) {
        self.capacity = capacity
        base = .allocate(capacity: capacity)
    }

    @inlinable
    deinit {
        base.deinitialize(count: count)
        base.deallocate()
    }

    @inlinable @inline(__always)
    public subscript(index: Int) -> Element {
        unsafeAddress { UnsafePointer(base + index) }
        unsafeMutableAddress { base + index }
    }

    @inlinable @inline(__always)
    public subscript(index: Int32) -> Element {
        unsafeAddress { UnsafePointer(base + Int(index)) }
        unsafeMutableAddress { base + Int(index) }
    }

    @inlinable @inline(__always)
    public subscript(range: Range<Int>) -> UnsafeBufferPointer<Element> {
        UnsafeBufferPointer(start: base + range.lowerBound, count: range.count)
    }

    @inlinable @inline(__always)
    public mutating func append(_ element: Element) {
        if count == capacity { grow(to: count + 1) }
        (base + count).initialize(to: element)
        end += 1
    }

    @inlinable @inline(__always)
    public mutating func append(repeating element: Element, count number: Int) {
        if count + number > capacity { grow(to: count + number) }
        (base + count).initialize(repeating: element, count: number)
        end += number
    }

    @inlinable @inline(__always)
    public mutating func append(_ elements: UnsafePointer<Element>, count number: Int) {
        if count + number > capacity { grow(to: count + number) }
        (base + count).initialize(from: elements, count: number)
        end += number
    }

    @inlinable @inline(__always)
    public mutating func removeLast(_ number: Int = 1) {
        end -= number
        (base + count).deinitialize(count: number)
    }

    /// Removes the values behind an end, and keeps the memory.
    @inlinable @inline(__always)
    public mutating func truncate(to end: Int) { removeLast(count - end) }

    @usableFromInline
    mutating func grow(to needed: Int) {
        // Beyond some size it grows by less: doubling would make this most of a run's memory.
        let larger = max(min(capacity * 2, capacity + max(4 << 20, capacity / 4)), needed)
        let moved = UnsafeMutablePointer<Element>.allocate(capacity: larger)
        moved.moveInitialize(from: base, count: count)
        base.deallocate()
        base = moved
        capacity = larger
    }
}
