/// The text of all descendants of some open elements, one within another. Each byte is kept once, however many elements
/// are open.
struct TextCollection {
    private struct Open {
        let capture: PathNode.Capture
        let depth: Int
        let start: Int
    }

    private var text: [UInt8] = []
    private var open: [Open] = []

    var isEmpty: Bool { open.isEmpty }
    var count: Int { text.count }

    mutating func begin(_ capture: PathNode.Capture, depth: Int) {
        open.append(Open(capture: capture, depth: depth, start: text.count))
    }

    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        if !open.isEmpty { text.append(contentsOf: bytes) }
    }

    /// Ends the elements that began at a depth: calls `body` with each capture and its text.
    mutating func end(depth: Int, _ body: (UnsafeBufferPointer<UInt8>, PathNode.Capture) throws -> Void) rethrows {
        while let last = open.last, last.depth == depth {
            open.removeLast()
            try text.withUnsafeBufferPointer {
                try body(UnsafeBufferPointer(rebasing: $0[last.start...]), last.capture)
            }
        }
        // A buffer that has grown long is released.
        if open.isEmpty { text.removeAll(keepingCapacity: text.capacity <= 64 << 10) }
    }
}
