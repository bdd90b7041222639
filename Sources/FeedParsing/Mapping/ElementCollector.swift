import XMLStream

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
