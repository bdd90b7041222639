import XMLStream

/// Columns that take an element whole: its markup, or the text of all that is in it.
extension MappingHandler {
    func collectStart(_ stream: XMLStreamParser, depth: Int) {
        collectText(stream.textBytes(atDepth: depth - 1), depth: depth - 1)
        while collected.count <= depth { collected.append(0) }
        collected[depth] = 0
        for index in collectors.indices { collectors[index].start(stream) }
    }

    func collectEnd(_ stream: XMLStreamParser, depth: Int) {
        collectText(stream.textBytes, depth: depth)
        for index in collectors.indices { collectors[index].end(stream.qualifiedName) }
    }

    func collectText(_ text: UnsafeBufferPointer<UInt8>, depth: Int) {
        guard text.count > collected[depth] else { return }
        let new = UnsafeBufferPointer(rebasing: text[collected[depth]...])
        for index in collectors.indices { collectors[index].append(new) }
        collected[depth] = text.count
    }
}
