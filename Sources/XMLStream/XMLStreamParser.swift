import CLibXML2

/// Reads one XML document, in pieces of any size, and calls a handler for each element.
///
/// It uses libxml2's push parser and SAX2 interface. Only the open elements are held, so a document may be of any
/// length. External entities and DTDs are never fetched. Entities that the document declares itself are expanded up
/// to ``XMLLimits/entityExpansion``.
///
/// Not `Sendable`: used from one thread or serial executor at a time. Once an error has been thrown, every call
/// throws the same error again.
public final class XMLStreamParser {
    let limits: XMLLimits
    /// Not retained: the handler owns the parser or outlives it, and this is read twice for each element.
    @exclusivity(unchecked) var handler: Unmanaged<XMLStreamHandler>
    var envelope: XMLStreamHandler?
    /// The number of open elements of an envelope around the handler's document.
    @exclusivity(unchecked) var outerDepth = 0
    let context: xmlParserCtxtPtr
    private let forcedEncoding: String?
    private var preamble: [UInt8]? = []

    // `@exclusivity(unchecked)`: one executor uses the parser, and no callback changes these while another does.
    // Checking each access at run time took a fifth of the parser's time.
    @exclusivity(unchecked) var failure: (any Error)?
    @exclusivity(unchecked) var names = XMLNameTable()
    @exclusivity(unchecked) var frames = FlatArray<XMLFrame>(capacity: 32)
    @exclusivity(unchecked) var text = FlatArray<UInt8>(capacity: 4096)
    @exclusivity(unchecked) var attributes = FlatArray<XMLAttributeRecord>(capacity: 32)
    @exclusivity(unchecked) var attributeValues = FlatArray<UInt8>(capacity: 4096)
    @exclusivity(unchecked) var expanded = 0
    @exclusivity(unchecked) var defaultLength = 0
    @exclusivity(unchecked) var declarations = 0
    @exclusivity(unchecked) var openNamespaces = 0
    /// The prefixes and addresses of the namespaces that the element declares, as libxml2 holds them while it begins.
    @exclusivity(unchecked) var namespaceDeclarations: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    /// The number of elements that have begun.
    @exclusivity(unchecked) var elements = 0
    @exclusivity(unchecked) var attributeIndex = XMLAttributeIndex()
    /// The document's offset after a part of a CDATA section that ended in a carriage return; -1 after other parts.
    @exclusivity(unchecked) var sectionReturn = -1
    /// Elements and attributes since the last check for cancellation of the task.
    @exclusivity(unchecked) var work = 0
    private var tag = UnreadTag()
    /// The bytes held back until there are enough to push.
    private var held: [UInt8] = []
    /// The most bytes that libxml2 is given next.
    private var stride = XMLStreamParser.stride
    /// Nil behind the document type declaration.
    private var declaration: DeclarationScanner? = DeclarationScanner()
    /// The line reached in a document that is not XML; nil in an XML document.
    @exclusivity(unchecked) var reportedLine: Int?
    /// True while an element is reported whose text is a number in the document's format. XML has no numbers.
    @exclusivity(unchecked) package internal(set) var isNumber = false
    @exclusivity(unchecked) var hasRoot = false
    /// The number of handlers that are taking the whole content of an element. White space before an element's first
    /// child is then kept.
    @exclusivity(unchecked) package var contentTakers = 0

    /// - Parameters:
    ///   - charset: the encoding that the transport declares (`charset` of Content-Type). A byte order mark overrides
    ///     it, and it overrides the XML declaration (RFC 7303, section 3).
    ///   - handler: the object that receives each element; not retained.
    public init(charset: String? = nil, limits: XMLLimits = XMLLimits(), handler: XMLStreamHandler) {
        XMLStreamParser.initializeLibrary
        self.limits = limits
        self.handler = .passUnretained(handler)
        forcedEncoding = charset
        var sax = XMLStreamParser.saxHandler
        // libxml2 copies the handler. Creating a push context can only fail for lack of memory.
        guard let context = xmlCreatePushParserCtxt(&sax, nil, nil, 0, nil) else { fatalError("out of memory") }
        self.context = context
        context.pointee._private = Unmanaged.passUnretained(self).toOpaque()
        xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue))
    }

    deinit {
        if let document = context.pointee.myDoc { xmlFreeDoc(document) }
        context.pointee.myDoc = nil
        xmlFreeParserCtxt(context)
    }

    /// Reads the next bytes of the document.
    ///
    /// - Throws: ``XMLStreamError``, the handler's error, or `CancellationError` where the task has been cancelled.
    public func parse(_ bytes: UnsafeRawBufferPointer) throws {
        if let failure { throw failure }
        guard !bytes.isEmpty else { return }
        if preamble != nil {
            preamble?.append(contentsOf: bytes.prefix(4096))
            guard let start = preamble, start.count >= 4 || bytes.count > 4096 else { return }
            try begin(start)
            try push(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(4096)))
        } else {
            try push(bytes)
        }
    }

    /// Ends the document.
    ///
    /// - Throws: ``XMLStreamError`` if it is not complete, or the handler's error.
    public func finish() throws {
        if let failure { throw failure }
        if reportedLine == nil { try finishXML() }
        try telling { try $0.didEndDocument() }
    }

    private func finishXML() throws {
        if let start = preamble {
            guard !start.isEmpty else {
                throw refusal(.empty, "the body is empty (0 bytes)")
            }
            try begin(start)
        }
        try pushHeld()
        // libxml2 is not always the first to notice that a document is incomplete.
        let isUnreadable = hasUnreadableBytes
        // libxml2 may report the beginning of a tag that does not end as an element.
        let (end, isCut, innermost, hadRoot) = (endOfInput, endsWithinMarkup, openElement, hasRoot)
        let code = xmlParseChunk(context, nil, 0, 1)
        if failure == nil, isUnreadable { throw encodingError() }
        if failure == nil, let innermost,
            isCut || context.pointee.wellFormed != 0
                || context.pointee.lastError.code == XML_ERR_DOCUMENT_END.rawValue
        {
            throw truncated("before its root element <\(name(frames[0].name).qualified)> does", end, innermost)
        }
        if failure == nil, isCut, !hadRoot { throw truncated("before its root element begins", end, nil) }
        try check(code)
    }

    private func truncated(_ place: String, _ end: (line: Int, column: Int), _ element: String?) -> any Error {
        fail(
            XMLStreamError(
                code: .truncated, message: "the document ends \(place); it was probably cut off", line: end.line,
                column: end.column, element: element))
    }

    /// The line and column behind the last byte.
    private var endOfInput: (line: Int, column: Int) {
        var (line, column) = (line, Int(context.pointee.input?.pointee.col ?? 0))
        for byte in unread {
            (line, column) = byte == UInt8(ascii: "\n") ? (line + 1, 1) : (line, column + 1)
        }
        return (line, column)
    }

    /// True if the unread bytes end within markup: libxml2 waits for the rest of a tag, a comment or a reference. A bare
    /// `<` or `&` begins none.
    private var endsWithinMarkup: Bool {
        let bytes = unread
        func isLetter(_ byte: UInt8) -> Bool {
            byte >= 0x80 || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) || "_:".utf8.contains(byte)
        }
        if bytes.first == UInt8(ascii: "<") {
            return bytes.dropFirst().first.map { isLetter($0) || "/!?".utf8.contains($0) } ?? true
        }
        guard openElement != nil, !bytes.contains(UInt8(ascii: "<")), let mark = bytes.lastIndex(of: UInt8(ascii: "&"))
        else { return false }
        return bytes[(mark + 1)...].allSatisfy { isLetter($0) || "0123456789-.#".utf8.contains($0) }
    }

    /// Begins to parse. The encoding comes from the byte order mark, else the transport, else the document itself.
    private func begin(_ start: [UInt8]) throws {
        preamble = nil
        let hasMark = ByteOrderMark(start) != nil
        if hasMark || forcedEncoding != nil {
            xmlCtxtUseOptions(context, Int32(XML_PARSE_NONET.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
        }
        if let charset = forcedEncoding, !hasMark {
            guard let encoding = xmlFindCharEncodingHandler(charset) else {
                throw refusal(.encoding, "the Content-Type declares the unknown encoding '\(charset)'")
            }
            xmlSwitchToEncoding(context, encoding)
        }
        try start.withUnsafeBytes { try push($0) }
    }

    /// The bytes that libxml2 has and cannot read before more come, such as the beginning of a tag. It looks through some
    /// of them again whenever more come.
    private var unread: UnsafeBufferPointer<UInt8> { context.pointee.unread }

    private func push(_ bytes: UnsafeRawBufferPointer) throws {
        if declaration != nil, holdDeclaration(bytes) { return }
        defer { stride = Self.stride }
        if held.isEmpty, bytes.count >= wanted { return try pushPieces(bytes) }
        held.append(contentsOf: bytes)
        if held.count >= wanted { try pushHeld() }
    }

    /// Holds back bytes that end within a document type declaration: libxml2 is given the whole of it at once.
    ///
    /// - Returns: false where all that is held is to be pushed.
    private func holdDeclaration(_ bytes: UnsafeRawBufferPointer) -> Bool {
        declaration?.read(bytes)
        if declaration?.hasBegun == true { stride = limits.declarationLength + Self.stride }
        let isWithin = declaration?.isWithin == true
        let isHeld = isWithin && held.count + bytes.count <= limits.declarationLength
        if !isHeld, isWithin || declaration?.isAtEnd == true { declaration = nil }
        if isHeld { held.append(contentsOf: bytes) }
        return isHeld
    }

    /// The fewest bytes worth pushing, in proportion to the bytes that libxml2 may scan again.
    private var wanted: Int { unread.count > 4096 ? min(unread.count / 4, Self.stride) : 1 }

    private func pushHeld() throws {
        let bytes = held
        held = []
        try bytes.withUnsafeBytes { try pushPieces($0) }
    }

    /// The most bytes to push at once. With every piece, libxml2 scans unread bytes again, so smaller pieces are held
    /// back. Larger pieces would do work that cannot be interrupted.
    private static let stride = 64 << 10

    private func pushPieces(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(stride))
            let bytes = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            try check(xmlParseChunk(context, bytes, Int32(piece.count), 0))
            try checkUnread()
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Checks unread markup that libxml2 will read as a whole, with work that grows with the square of its parts.
    private func checkUnread() throws {
        let unread = unread
        guard unread.count > Self.stride else { return tag = UnreadTag() }
        switch context.pointee.instate {
        // Before its subset, libxml2 has not seen that a declaration has begun.
        case XML_PARSER_DTD where unread.count > limits.declarationLength,
            XML_PARSER_MISC where unread.count > limits.declarationLength && unread.starts(with: "<!DOCTYPE".utf8):
            throw refusal(.limit, "the document type declaration is longer than \(limits.declarationLength) bytes")
        case XML_PARSER_START_TAG:
            // libxml2 stays where it is until the tag is complete.
            tag.read(unread)
            if tag.attributes > limits.attributes {
                throw refusal(.limit, "an element has more than \(limits.attributes) attributes")
            }
        default: break
        }
    }

    private func check(_ code: Int32) throws {
        if let failure { throw failure }
        let element = openElement
        if context.pointee.wellFormed == 0 {
            throw fail(XMLStreamError(context.pointee.lastError, line: line, element: element, hasRoot: hasRoot))
        }
        // Bytes that cannot be converted end a document without making it ill-formed. Only the return value shows it.
        if code == XML_ERR_INVALID_ENCODING.rawValue || code == -1 { throw encodingError() }
    }

    /// True if the encoder was given bytes that it could not convert.
    private var hasUnreadableBytes: Bool {
        guard let buffer = context.pointee.input?.pointee.buf, buffer.pointee.encoder != nil else { return false }
        return xmlBufUse(buffer.pointee.raw) > 0
    }

    private func encodingError() -> any Error {
        let encoding = forcedEncoding ?? context.pointee.encoding.map { String(cString: $0) } ?? "UTF-8"
        return refusal(.encoding, "the bytes are not valid \(encoding), the encoding that is declared")
    }

    /// Ends the document. The current call to ``parse(_:)`` throws this error, unless there is an earlier one.
    @discardableResult
    public func fail(_ error: any Error) -> any Error {
        if failure == nil { failure = error }
        xmlStopParser(context)
        return error
    }
}

extension xmlParserCtxt {
    /// The bytes that libxml2 has and has not read.
    var unread: UnsafeBufferPointer<UInt8> {
        guard let input = input?.pointee, let end = input.end, let current = input.cur else {
            return UnsafeBufferPointer(start: nil, count: 0)
        }
        return UnsafeBufferPointer(start: current, count: end - current)
    }
}
