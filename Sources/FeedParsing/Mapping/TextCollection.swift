/// The text of all descendants of some open elements, one within another: each byte is kept once, whatever their number.
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

    /// Ends what began with the element at a depth: calls `body` with each capture and its text.
    mutating func end(depth: Int, _ body: (UnsafeBufferPointer<UInt8>, PathNode.Capture) throws -> Void) rethrows {
        while let last = open.last, last.depth == depth {
            open.removeLast()
            try text.withUnsafeBufferPointer {
                try body(UnsafeBufferPointer(rebasing: $0[last.start...]), last.capture)
            }
        }
        // A long text is not kept for the sake of its memory.
        if open.isEmpty { text.removeAll(keepingCapacity: text.capacity <= 64 << 10) }
    }
}
