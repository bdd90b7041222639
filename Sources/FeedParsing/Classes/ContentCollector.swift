import XMLStream

/// Gathers the content of one element as markup, from its first child on. Content without children is just the
/// element's text.
struct ContentCollector {
    /// The depth of the element whose content is gathered.
    let depth: Int
    private let rules: MarkupRules
    private var markup: MarkupWriter
    /// The bytes of text already taken from each open element, from `depth` on.
    private var taken: [Int] = []
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
        if taken.isEmpty { taken = [0] }
        takeText(stream.textBytes(atDepth: stream.depth - 1))
        let isChild = stream.depth == depth + 1
        if isChild {
            children += 1
            isWrapped = children == 1 && stream.localName == rules.wrapper
        }
        taken.append(0)
        markup.start(stream)
        if isChild, isWrapped {
            markup.closeTag()
            inner = markup.count..<markup.count
        }
        try check()
    }

    mutating func end(_ stream: XMLStreamParser) throws {
        takeText(stream.textBytes)
        if stream.depth == depth + 1 { inner = inner.lowerBound..<max(inner.lowerBound, markup.count) }
        taken.removeLast()
        markup.end()
        try check()
    }

    /// Returns the content when its element has ended; nil if it is only text.
    mutating func content(_ stream: XMLStreamParser) throws -> String? {
        guard children > 0 else { return nil }
        takeText(stream.textBytes)
        try check()
        let bytes = isWrapped && children == 1 && !hasText ? markup.bytes[inner] : markup.bytes[...]
        return bytes.withUnsafeBufferPointer { String(decoding: trimmed($0), as: UTF8.self) }
    }

    private mutating func takeText(_ text: UnsafeBufferPointer<UInt8>) {
        let start = taken[taken.count - 1]
        guard text.count > start else { return }
        let new = UnsafeBufferPointer(rebasing: text[start...])
        if taken.count == 1, !hasText { hasText = !new.allSatisfy(isXMLSpace) }
        markup.append(new)
        taken[taken.count - 1] = text.count
    }

    private func check() throws {
        if markup.count > rules.limit { throw MarkupTooLong(limit: rules.limit) }
    }
}
