import FeedModel
import XMLStream

/// Gathers the content of one element as markup, from its first child on. Content without children is just the
/// element's text.
struct ContentCollector {
    /// The depth of the element whose content is gathered.
    let depth: Int
    private let rules: MarkupRules
    private var markup: MarkupWriter
    private var tail = XMLTextTail()
    /// The number of elements directly in the content, and whether it has text as well.
    private var children = 0
    private var hasText = false
    /// The range of the only child's content in the markup.
    private var inner = 0..<0
    private var isWrapped = false

    init(_ rules: MarkupRules, depth: Int) {
        self.rules = rules
        self.depth = depth
        markup = MarkupWriter(plainNamespaces: rules.plainNamespaces)
    }

    mutating func start(_ stream: XMLStreamParser) throws {
        let isChild = stream.depth == depth + 1
        append(tail.takeBeforeElement(in: stream), isOwn: isChild)
        if isChild {
            children += 1
            isWrapped = children == 1 && stream.localName == rules.wrapper
        }
        markup.start(stream)
        if isChild, isWrapped {
            markup.closeTag()
            inner = markup.count..<markup.count
        }
        try check()
    }

    mutating func end(_ stream: XMLStreamParser) throws {
        append(tail.takeRest(in: stream), isOwn: false)
        if stream.depth == depth + 1 { inner = inner.lowerBound..<max(inner.lowerBound, markup.count) }
        markup.end()
        try check()
    }

    /// Returns the content when its element has ended; nil if it is only text.
    mutating func content(_ stream: XMLStreamParser) throws -> String? {
        guard children > 0 else { return nil }
        append(tail.takeRest(in: stream), isOwn: true)
        try check()
        let bytes = isWrapped && children == 1 && !hasText ? markup.bytes[inner] : markup.bytes[...]
        return bytes.withUnsafeBufferPointer { String(decoding: trimmed($0), as: UTF8.self) }
    }

    /// - Parameter isOwn: true for text that is directly in the content.
    private mutating func append(_ text: UnsafeBufferPointer<UInt8>, isOwn: Bool) {
        guard !text.isEmpty else { return }
        if isOwn, !hasText { hasText = !text.allSatisfy(isXMLSpace) }
        markup.append(text)
    }

    private func check() throws {
        if markup.count > rules.limit {
            throw MappingError("the element's markup is longer than \(ByteSize.text(rules.limit))")
        }
    }
}
