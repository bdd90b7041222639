import FeedDeclarations
import FeedModel
import XMLStream

/// Columns that take a whole element: its markup, or all text in it.
extension MappingHandler {
    /// The most bytes of all whole elements that are gathered at the same time, nested ones counted together.
    static let collectedLimit = 16 << 20

    var isCollecting: Bool { !collectors.isEmpty || !texts.isEmpty }

    func beginCollecting(_ capture: PathNode.Capture, _ stream: XMLStreamParser, depth: Int) throws {
        guard mayTake(capture) else { return }
        if case .markup = capture.what {
            collectors.append(ElementCollector(capture, depth: depth))
            try collect(from: collectors.count - 1) { $0.start(stream) }
        } else {
            texts.begin(capture, depth: depth)
        }
        stream.keepsIndentation = true
        while collected.count <= depth { collected.append(0) }
        collected[depth] = 0
    }

    func endCollecting(_ stream: XMLStreamParser, depth: Int) throws {
        while let collector = collectors.last, collector.depth == depth {
            collectors.removeLast()
            collectedBytes -= collector.count
            try collector.result.withUnsafeBufferPointer { try deliver($0, collector.capture) }
        }
        try texts.end(depth: depth) { try deliver(trimmed($0), $1) }
        stream.keepsIndentation = isCollecting
    }

    func collectStart(_ stream: XMLStreamParser, depth: Int) throws {
        try collectText(stream.textBytes(atDepth: depth - 1), depth: depth - 1)
        while collected.count <= depth { collected.append(0) }
        collected[depth] = 0
        try collect { $0.start(stream) }
    }

    func collectEnd(_ stream: XMLStreamParser, depth: Int) throws {
        try collectText(stream.textBytes, depth: depth)
        try collect { $0.end() }
    }

    private func collectText(_ text: UnsafeBufferPointer<UInt8>, depth: Int) throws {
        guard text.count > collected[depth] else { return }
        let new = UnsafeBufferPointer(rebasing: text[collected[depth]...])
        texts.append(new)
        try collect { $0.append(new) }
        collected[depth] = text.count
    }

    private func collect(from first: Int = 0, _ body: (inout ElementCollector) -> Void) throws {
        for index in collectors.indices.dropFirst(first) {
            collectedBytes -= collectors[index].count
            body(&collectors[index])
            collectedBytes += collectors[index].count
        }
        guard collectedBytes + texts.count <= Self.collectedLimit else {
            throw MappingError(
                "more than \(ByteSize.text(Self.collectedLimit)) of elements that columns take whole (type = \"xml\", "
                    + "string(…)) are open at the same time; map smaller elements")
        }
    }

    /// True if the value would be used: it is inherited, or a record takes it.
    private func mayTake(_ capture: PathNode.Capture) -> Bool {
        capture.isInherited || record(for: capture)?.mayTake(capture.slot) ?? false
    }
}

/// Gathers the markup of an element while it is read.
struct ElementCollector {
    let capture: PathNode.Capture
    let depth: Int
    private var markup = MarkupWriter()

    init(_ capture: PathNode.Capture, depth: Int) {
        self.capture = capture
        self.depth = depth
    }

    mutating func start(_ stream: XMLStreamParser) { markup.start(stream) }

    mutating func append(_ bytes: some Collection<UInt8>) { markup.append(bytes) }

    mutating func end() { markup.end() }

    var count: Int { markup.count }

    var result: [UInt8] { markup.bytes }
}

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
