import XMLStream

/// One element and all that is in it, in flat arrays that are used again for the next element.
final class ElementTree {
    /// The number of no node and no attribute.
    static let none: Int32 = -1
    /// The most bytes of names and texts in one record. A feed's record has a few thousand; this is a whole document.
    static let byteLimit = 256 << 20
    /// The most bytes of names and texts in one record of a run, whose memory is bounded.
    static let byteLimitOfRun = 16 << 20

    private let byteLimit: Int

    init(byteLimit: Int = ElementTree.byteLimit) { self.byteLimit = byteLimit }

    struct Node: BitwiseCopyable {
        let name: ElementName
        let parent: Int32
        let line: Int32
        let attributes: Int32
        let attributesEnd: Int32
        var firstChild = ElementTree.none
        var lastChild = ElementTree.none
        var next = ElementTree.none
        var text: Int32 = 0
        var textEnd: Int32 = 0
    }

    struct Attribute: BitwiseCopyable {
        let name: ElementName
        let value: Int32
        let valueEnd: Int32
    }

    let names = ElementNames()
    // `@exclusivity(unchecked)`: one parser builds the tree and one decoder reads it, never at the same time.
    @exclusivity(unchecked) private(set) var nodes = FlatArray<Node>()
    @exclusivity(unchecked) private var attributes = FlatArray<Attribute>()
    @exclusivity(unchecked) private var bytes = FlatArray<UInt8>(capacity: 4096)
    @exclusivity(unchecked) private var current = ElementTree.none

    /// True while an element is open.
    var isOpen: Bool { current != Self.none }

    var byteCount: Int { bytes.count }

    func clear() {
        nodes.truncate(to: 0)
        attributes.truncate(to: 0)
        bytes.truncate(to: 0)
        current = Self.none
    }

    // MARK: - Building

    /// Adds the stream's current element to the open one.
    func beginElement(in stream: XMLStreamParser) throws {
        let first = Int32(attributes.count)
        let list = stream.attributesOfElement
        if !list.isEmpty {
            list.forEach { number, name, value in
                let value = add(trimmed(value))
                attributes.append(
                    Attribute(
                        name: names.name(ofDocument: number, name), value: value, valueEnd: Int32(bytes.count)))
            }
        }
        let node = Int32(nodes.count)
        nodes.append(
            Node(
                name: names.name(ofDocument: stream.nameIndex, stream.name), parent: current,
                line: Int32(truncatingIfNeeded: stream.line), attributes: first,
                attributesEnd: Int32(attributes.count)))
        if isOpen {
            let last = nodes[current].lastChild
            if last == Self.none { nodes[current].firstChild = node } else { nodes[last].next = node }
            nodes[current].lastChild = node
        }
        current = node
        try checkSize()
    }

    /// Ends the open element, whose own text is now known.
    func endElement(in stream: XMLStreamParser) throws {
        let text = add(trimmed(stream.textBytes))
        nodes[current].text = text
        nodes[current].textEnd = Int32(bytes.count)
        current = nodes[current].parent
        try checkSize()
    }

    private func add(_ text: UnsafeBufferPointer<UInt8>) -> Int32 {
        let start = Int32(bytes.count)
        if let base = text.baseAddress { bytes.append(base, count: text.count) }
        return start
    }

    /// Checks the size before the next text, which `XMLLimits` bounds, could carry an offset past an `Int32`.
    @inline(__always)
    private func checkSize() throws {
        let size =
            bytes.count + nodes.count * MemoryLayout<Node>.stride + attributes.count * MemoryLayout<Attribute>.stride
        if size > byteLimit {
            throw XMLRecordError(
                line: line(of: 0), element: name(of: 0),
                reason: "the element takes more than \(byteLimit >> 20) MiB; a record is decoded from memory")
        }
    }

    // MARK: - Reading

    func name(of node: Int32) -> String { names[nodes[node].name.written] }

    func line(of node: Int32) -> Int { Int(nodes[node].line) }

    /// Returns the element's own text without white space at either end. Valid until the tree changes.
    @inline(__always)
    func text(of node: Int32) -> UnsafeBufferPointer<UInt8> {
        bytes(nodes[node].text, nodes[node].textEnd)
    }

    @inline(__always)
    func text(at place: ElementPlace) -> UnsafeBufferPointer<UInt8> {
        guard place.isAttribute else { return text(of: place.node) }
        return bytes(attributes[place.attribute].value, attributes[place.attribute].valueEnd)
    }

    @inline(__always)
    private func bytes(_ start: Int32, _ end: Int32) -> UnsafeBufferPointer<UInt8> {
        bytes[Int(start)..<Int(end)]
    }

    @inline(__always)
    func hasAttributes(_ node: Int32) -> Bool { nodes[node].attributes != nodes[node].attributesEnd }

    /// Returns the place of an attribute, or a missing one.
    @inline(__always)
    func attribute(_ name: ElementName, of node: Int32) -> ElementPlace {
        var attribute = nodes[node].attributes
        let end = nodes[node].attributesEnd
        while attribute < end {
            if name.finds(attributes[attribute].name) { return ElementPlace(node: node, attribute: attribute) }
            attribute += 1
        }
        return .missing
    }

    func attributeNames(of node: Int32) -> [ElementName] {
        (nodes[node].attributes..<nodes[node].attributesEnd).map { attributes[$0].name }
    }

    func children(of node: Int32) -> [Int32] {
        var children: [Int32] = []
        var child = nodes[node].firstChild
        while child != Self.none {
            children.append(child)
            child = nodes[child].next
        }
        return children
    }

    /// Returns true if there is only a tag at a place: no text, no attribute, no child.
    func isEmpty(_ place: ElementPlace) -> Bool {
        guard text(at: place).isEmpty else { return false }
        return place.isAttribute || (nodes[place.node].firstChild == Self.none && !hasAttributes(place.node))
    }
}

/// The place of a value in a tree: an element, or an attribute of it.
struct ElementPlace {
    var node: Int32
    var attribute: Int32 = ElementTree.none

    static let missing = ElementPlace(node: ElementTree.none)

    @inline(__always) var exists: Bool { node != ElementTree.none }
    @inline(__always) var isAttribute: Bool { attribute != ElementTree.none }
}
