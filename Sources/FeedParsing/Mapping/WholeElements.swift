import XMLStream

/// Gathers whole elements while they are read: the text of all their descendants, or their markup.
///
/// The elements may lie within one another. Each byte of text is kept once, however many of them it is in.
struct WholeElements<Target> {
    private struct Text {
        let target: Target
        let depth: Int
        let start: Int
    }

    private struct Markup {
        let target: Target
        let depth: Int
        var writer = MarkupWriter()
    }

    private var text: [UInt8] = []
    private var texts: [Text] = []
    private var markups: [Markup] = []
    private var markupBytes = 0
    private var tail = XMLTextTail()

    /// True if no element is being gathered.
    var isEmpty: Bool { texts.isEmpty && markups.isEmpty }
    /// The bytes that are held.
    var count: Int { text.count + markupBytes }

    /// Gathers the element that has just begun.
    ///
    /// - Parameter target: what takes the element when it has ended.
    mutating func begin(_ target: Target, isMarkup: Bool = false, in stream: XMLStreamParser) {
        if isEmpty { stream.contentTakers += 1 }
        tail.begin(in: stream)
        if isMarkup {
            markups.append(Markup(target: target, depth: stream.depth))
            write(from: markups.count - 1) { $0.start(stream) }
        } else {
            texts.append(Text(target: target, depth: stream.depth, start: text.count))
        }
    }

    /// Takes the start of an element within a gathered one.
    mutating func start(in stream: XMLStreamParser) {
        append(tail.takeBeforeElement(in: stream))
        write { $0.start(stream) }
    }

    /// Takes the end of a gathered element, or of one within it.
    mutating func end(in stream: XMLStreamParser) {
        append(tail.takeRest(in: stream))
        write { $0.end() }
    }

    private mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard !bytes.isEmpty else { return }
        if !texts.isEmpty { text.append(contentsOf: bytes) }
        write { $0.append(bytes) }
    }

    private mutating func write(from first: Int = 0, _ body: (inout MarkupWriter) -> Void) {
        for index in markups.indices.dropFirst(first) {
            markupBytes -= markups[index].writer.count
            body(&markups[index].writer)
            markupBytes += markups[index].writer.count
        }
    }

    /// Passes the elements that end at this one to `body`, after ``end(in:)``. Their texts are without white space at
    /// either end.
    mutating func deliver(
        in stream: XMLStreamParser, _ body: (UnsafeBufferPointer<UInt8>, Target) throws -> Void
    ) rethrows {
        guard !isEmpty else { return }
        while let markup = markups.last, markup.depth == stream.depth {
            markups.removeLast()
            markupBytes -= markup.writer.count
            try markup.writer.bytes.withUnsafeBufferPointer { try body($0, markup.target) }
        }
        while let last = texts.last, last.depth == stream.depth {
            texts.removeLast()
            try text.withUnsafeBufferPointer {
                try body(trimmed(UnsafeBufferPointer(rebasing: $0[last.start...])), last.target)
            }
        }
        // A buffer that has grown long is released.
        if texts.isEmpty { text.removeAll(keepingCapacity: text.capacity <= 64 << 10) }
        if isEmpty { stream.contentTakers -= 1 }
    }
}
