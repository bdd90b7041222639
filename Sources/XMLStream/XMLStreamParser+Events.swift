/// Support for documents that are not XML. Their reader names the elements and texts, and the handler receives them
/// as if they had been parsed. Limits and errors are the same. Nothing is written as markup and read again.
extension XMLStreamParser {
    /// The name of an element or attribute that one parser knows.
    package struct ElementName: Sendable, Equatable {
        // `nonisolated(unsafe)`: points into the parser's dictionary, where nothing moves or changes.
        fileprivate nonisolated(unsafe) let local: UnsafePointer<UInt8>
        /// The number of the name among the names of the document.
        fileprivate let number: Int32
    }

    /// True for a document that is not XML. The names of its elements may be any text.
    package var isSynthetic: Bool { reportedLine != nil }

    /// - Parameters:
    ///   - name: a local name, as in XML where markup is made of it; this is not checked.
    ///   - written: the name of a column or of a member; nil for others.
    package func elementName(_ name: String, written: [UInt8]? = nil) throws -> ElementName {
        let (local, known) = (try interned(Array(name.utf8)), names.count)
        let number = names.index(
            local: local, prefix: try written.map(interned), namespace: nil, isWritten: written != nil)
        checkNames(from: known)
        if let failure { throw failure }
        return ElementName(local: local, number: number)
    }

    private func interned(_ name: [UInt8]) throws -> UnsafePointer<UInt8> {
        guard name.count <= limits.nameLength else {
            throw refusal(.limit, "a name is longer than \(limits.nameLength) bytes")
        }
        guard let local = name.withUnsafeBufferPointer(intern) else {
            throw refusal(.limit, "the names are longer than 10000000 bytes together")
        }
        return local
    }

    /// Passes on the names of a document's columns, before its first record.
    package func header(_ columns: [String]) throws { try telling { try $0.didReadHeader(columns) } }

    /// Passes on a line that is no record.
    package func rejected(line: String, reason: String) throws {
        try telling { try $0.didReject(line: line, reason: reason) }
    }

    /// - Parameter line: the line of the document, counted from 1.
    package func start(_ name: ElementName, line: Int) throws {
        reportedLine = line
        startElement(name.number)
        if let failure { throw failure }
    }

    /// - Parameters:
    ///   - attributes: the names and values of the element's attributes. The values are taken as they are.
    ///   - line: the line of the document, counted from 1.
    package func start(
        _ name: ElementName, _ attributes: [(name: ElementName, value: UnsafeBufferPointer<UInt8>)], line: Int
    ) throws {
        reportedLine = line
        var values = attributes.flatMap { attribute -> [UnsafePointer<UInt8>?] in
            // The value of an attribute without one begins anywhere.
            let start = attribute.value.baseAddress ?? attribute.name.local
            return [attribute.name.local, nil, nil, start, start + attribute.value.count]
        }
        values.withUnsafeMutableBufferPointer {
            startElement(name.number, attributes.count, $0.baseAddress)
        }
        if let failure { throw failure }
    }

    /// Adds to the text of the innermost element, which must be open.
    package func text(_ bytes: UnsafeBufferPointer<UInt8>, line: Int) throws {
        reportedLine = line
        if let base = bytes.baseAddress { characters(base, bytes.count, rootContext) }
        if let failure { throw failure }
    }

    /// Reports an element that has this text and no children.
    package func element(_ name: ElementName, _ text: UnsafeBufferPointer<UInt8>, line: Int) throws {
        reportedLine = line
        if mayTake(text), handler._withUnsafeGuaranteedRef({ $0.takeElement(name.number, text) }) {
            elements += 1
            countWork(1)
        } else {
            startElement(name.number)
            if let base = text.baseAddress { characters(base, text.count, rootContext) }
            endElement()
        }
        if let failure { throw failure }
    }

    /// Reports an element whose text is a number in the document's format, as JSON has without quotes.
    package func number(_ name: ElementName, _ text: UnsafeBufferPointer<UInt8>, line: Int) throws {
        isNumber = true
        defer { isNumber = false }
        try element(name, text, line: line)
    }

    /// True if an element with this text is within the limits, and changes nothing of its parent's text.
    @inline(__always)
    private func mayTake(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let length = self.text.count
        return failure == nil && frames.count > 0 && frames.count < limits.depth
            && frames[frames.count - 1].textStart == length && length + text.count <= limits.textLength
    }

    package func end(line: Int) throws {
        reportedLine = line
        endElement()
        if let failure { throw failure }
    }
}
