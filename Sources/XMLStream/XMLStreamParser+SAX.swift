import CLibXML2

/// The C side: libxml2's callbacks and their effect on the parser's stacks.
///
/// A callback must not throw through C, so an error is kept in `failure` and the C parser is stopped.
extension XMLStreamParser {
    /// Initializes libxml2 once, before the first parser of any thread (xmlInitParser).
    ///
    /// Errors outside a parser, such as an encoder's, would go to standard error. The parsers notice them themselves.
    static let initializeLibrary: Void = {
        xmlInitParser()
        xmlThrDefSetStructuredErrorFunc(nil) { _, _ in }
        tributary_silence_errors()
        xmlSetStructuredErrorFunc(nil) { _, _ in }
    }()

    /// `nonisolated(unsafe)`: a table of C functions that does not change once it is made.
    nonisolated(unsafe) static let saxHandler: xmlSAXHandler = {
        var sax = xmlSAXHandler()
        // The defaults keep the declarations of the internal subset. The tree-building half is replaced or removed.
        xmlSAXVersion(&sax, 2)
        sax.startElementNs = { context, local, prefix, namespace, namespaces, declared, count, defaulted, attributes in
            guard let context, let local else { return }
            withParser(context) {
                $0.namespaceDeclarations = declared
                let known = $0.names.count
                $0.startElement(
                    $0.names.index(local: local, prefix: prefix, namespace: namespace), Int(count), attributes,
                    namespaces: Int(namespaces), defaulted: Int(defaulted), isOfEntity: context != $0.rootContext,
                    known: known)
            }
        }
        sax.endElementNs = { context, _, _, _ in
            guard let context else { return }
            withParser(context) { $0.endElement() }
        }
        sax.characters = { context, bytes, count in
            guard let context, let bytes else { return }
            withParser(context) { $0.characters(bytes, Int(count), context) }
        }
        sax.ignorableWhitespace = sax.characters
        sax.cdataBlock = { context, bytes, count in
            guard let context, let bytes else { return }
            withParser(context) { $0.section(bytes, Int(count), context) }
        }
        sax.reference = { context, name in
            guard let context, let name else { return }
            withParser(context) { $0.reference(String(cString: name), context) }
        }
        // Only declarations of entities are kept: nothing asks for the others, and they may be large.
        sax.entityDecl = { context, name, type, publicID, systemID, content in
            guard let context else { return }
            withParser(context) { $0.declare() }
            xmlSAX2EntityDecl(context, name, type, publicID, systemID, content)
        }
        sax.attributeDecl = { context, _, _, _, _, _, values in
            if let values { xmlFreeEnumeration(values) }
            if let context { withParser(context) { $0.declare() } }
        }
        sax.elementDecl = { context, _, _, _ in
            if let context { withParser(context) { $0.declare() } }
        }
        sax.notationDecl = { context, _, _, _ in
            if let context { withParser(context) { $0.declare() } }
        }
        sax.serror = { _, _ in }
        sax.warning = nil
        sax.error = nil
        sax.fatalError = nil
        sax.comment = nil
        sax.processingInstruction = nil
        sax.externalSubset = nil
        sax.resolveEntity = { _, _, _ in nil }
        return sax
    }()

    /// Returns the parser of a C context. The parser owns the context, so it is alive while the context is.
    @inline(__always)
    private static func withParser(_ context: UnsafeMutableRawPointer, _ body: (XMLStreamParser) -> Void) {
        guard let parser = context.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private else { return }
        Unmanaged<XMLStreamParser>.fromOpaque(parser)._withUnsafeGuaranteedRef { body($0) }
    }

    /// - Parameters:
    ///   - name: the number of its name.
    ///   - count: the number of its attributes. Attributes by default come last.
    ///   - namespaces: the number of namespaces that it declares.
    ///   - known: the number of names before it; nil if its own has been checked.
    func startElement(
        _ name: Int32, _ count: Int = 0, _ values: UnsafeMutablePointer<UnsafePointer<UInt8>?>? = nil,
        namespaces: Int = 0, defaulted: Int = 0, isOfEntity: Bool = false, known: Int? = nil
    ) {
        guard failure == nil else { return }
        if frames.count > 0, !frames[frames.count - 1].hasText, contentTakers == 0 {
            let parent = frames[frames.count - 1].textStart
            if isBlank(text[parent..<text.count]) {
                text.truncate(to: parent)
            } else {
                frames[frames.count - 1].hasText = true
            }
        }
        let known = known ?? names.count
        let attributesStart = attributes.count
        let valuesStart = attributeValues.count
        if count > 0, let values { copyAttributes(values, count) }
        elements += 1
        frames.append(
            XMLFrame(
                name: name, textStart: text.count, attributes: attributesStart..<attributes.count, element: elements,
                attributeValuesStart: valuesStart, namespaces: namespaces))
        hasRoot = true
        if count + namespaces > 0 || isOfEntity {
            checkAttributes(namespaces, count, defaulted: defaulted, isOfEntity: isOfEntity)
        }
        if names.count != known { checkNames(from: known) }
        if frames.count == 1, reportedLine == nil, names[name].local.lowercased() == "html" {
            refuse(.html, XMLStreamError.htmlPage)
        } else if frames.count > limits.depth {
            refuse(.limit, "elements are nested more than \(limits.depth) deep")
        }
        countWork(1 + count)
        guard failure == nil else { return }
        do { try reportStart() } catch { fail(error) }
    }

    /// Checks for cancellation now and then: a small piece may cause much work, and a caller that gave up must not wait for
    /// it.
    @inline(__always)
    func countWork(_ parts: Int) {
        work += parts
        guard work >= Self.workBetweenLooks else { return }
        work = 0
        if Task.isCancelled { fail(CancellationError()) }
    }

    /// Elements and attributes between two checks for cancellation of the task.
    private static let workBetweenLooks = 4096

    private func declare() {
        declarations += 1
        if declarations > limits.declarations {
            refuse(.limit, "the document type declaration has more than \(limits.declarations) declarations")
        }
    }

    func endElement() {
        guard failure == nil, frames.count > 0 else { return }
        let frame = frames[frames.count - 1]
        do { try reportEnd() } catch { fail(error) }
        openNamespaces -= frame.namespaces
        text.truncate(to: frame.textStart)
        attributeValues.truncate(to: frame.attributeValuesStart)
        if !frame.attributes.isEmpty { attributes.removeLast(frame.attributes.count) }
        frames.removeLast()
    }

    func characters(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ context: UnsafeMutableRawPointer) {
        guard failure == nil, frames.count > 0 else { return }
        // The content of an entity is parsed in a context of its own.
        if context != rootContext { expand(by: count) }
        guard text.count + count <= limits.textLength else {
            return refuse(.limit, "the text of the open elements is longer than \(limits.textLength) bytes")
        }
        text.append(bytes, count: count)
    }

    /// Handles a part of a CDATA section. The push parser passes it on as written, so its line ends are made line feeds
    /// here (XML 1.0, section 2.11). In an entity that has been done already.
    private func section(_ bytes: UnsafePointer<UInt8>, _ count: Int, _ context: UnsafeMutableRawPointer) {
        guard count > 0, context == rootContext,
            let input = rootContext.assumingMemoryBound(to: xmlParserCtxt.self).pointee.input
        else { return characters(bytes, count, context) }
        var rest = UnsafeBufferPointer(start: bytes, count: count)[...]
        let place = Int(input.pointee.consumed) + (bytes - input.pointee.base)
        // The section continues after a carriage return.
        if sectionReturn == place, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        sectionReturn = bytes[count - 1] == UInt8(ascii: "\r") ? place + count : -1
        while let found = rest.firstIndex(of: UInt8(ascii: "\r")) {
            characters(bytes + rest.startIndex, found - rest.startIndex, context)
            characters("\n", 1, context)
            rest = rest[(found + 1)...]
            if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        }
        characters(bytes + rest.startIndex, rest.count, context)
    }

    /// Refuses an entity that lies outside the document, because leaving out its text silently would lose data. libxml2
    /// has already delivered the content of entities that the document declares itself.
    private func reference(_ name: String, _ context: UnsafeMutableRawPointer) {
        guard failure == nil else { return }
        guard let entity = xmlGetDocEntity(document(of: context), name) else {
            return refuse(.entity, "the entity '&\(name);' is not declared in the document")
        }
        let type = entity.pointee.etype
        guard type == XML_INTERNAL_GENERAL_ENTITY || type == XML_INTERNAL_PREDEFINED_ENTITY else {
            return refuse(.entity, "the external entity '&\(name);' is not fetched")
        }
    }

    private func document(of context: UnsafeMutableRawPointer) -> xmlDocPtr? {
        context.assumingMemoryBound(to: xmlParserCtxt.self).pointee.myDoc
    }

    func checkNames(from first: Int) {
        if names.count > limits.names { refuse(.limit, "there are more than \(limits.names) different names") }
        for index in first..<names.count where names[Int32(index)].qualified.utf8.count > limits.nameLength {
            refuse(.limit, "a name is longer than \(limits.nameLength) bytes")
        }
    }

    func refuse(_ code: XMLStreamError.Code, _ message: String) { _ = refusal(code, message) }

    /// Ends the document with an error at the present place, and returns it.
    func refusal(_ code: XMLStreamError.Code, _ message: String) -> any Error {
        fail(XMLStreamError(code: code, message: message, line: line, element: openElement))
    }

    @inline(__always)
    private func isBlank(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        bytes.allSatisfy(isXMLSpace)
    }
}
