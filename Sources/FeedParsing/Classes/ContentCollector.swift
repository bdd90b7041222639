import XMLStream

/// Gathers the content of one element as markup, from its first child on: a content without children is its text.
struct ContentCollector {
    /// Of the element whose content it is.
    let depth: Int
    private let rules: MarkupRules
    private var markup: MarkupWriter
    /// For each open element from `depth` on, the bytes of its text that have been taken.
    private var taken: [Int] = []
    /// What stands directly in the content: how many elements, and whether text besides.
    private var children = 0
    private var hasText = false
    /// Where the content of the only child begins and ends.
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

    /// The content, once its element has ended; nil where there is nothing but text.
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
