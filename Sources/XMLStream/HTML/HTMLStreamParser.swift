import CLibXML2

/// Reads an HTML page, in pieces of any size, and passes its elements to an ``XMLStreamParser``, like the reader of any
/// document that is not XML.
///
/// It uses libxml2's HTML push parser, which repairs what HTML allows and browsers forgive. Names are in lower case, the
/// elements `html`, `head`, `body` and `p` are added where they are missing, and every element ends. ``XMLLimits`` hold
/// as in XML.
///
/// Not `Sendable`: used from one thread or serial executor at a time.
package final class HTMLStreamParser {
    private let stream: XMLStreamParser
    private let context: htmlParserCtxtPtr
    private var decoder: HTMLDecoder
    /// The text in UTF-8 that waits until there is enough of it to push.
    private var held: [UInt8] = []
    /// The length of the held text up to the end of its last tag, and of the part that has been searched for it.
    private var (whole, searched) = (0, 0)
    private var isAfterReturn = false
    private var tag = UnreadTag()

    // `@exclusivity(unchecked)`: one executor uses the parser, and no callback changes these while another does.
    /// The first error of a callback, which must not throw through C.
    @exclusivity(unchecked) private var failure: (any Error)?
    /// The stream's names by the addresses under which libxml2 keeps its own.
    @exclusivity(unchecked) private var names: [UnsafePointer<UInt8>: XMLStreamParser.ElementName] = [:]
    /// The names of the open elements.
    @exclusivity(unchecked) private var open: [XMLStreamParser.ElementName] = []
    /// How many of them, `html` and `body`, are open until the page ends.
    @exclusivity(unchecked) private var outer = 0

    /// - Parameters:
    ///   - stream: the parser that receives the document. It must get no other input.
    ///   - charset: the encoding that the transport declares.
    package init(_ stream: XMLStreamParser, charset: String?) {
        self.stream = stream
        decoder = HTMLDecoder(charset: charset)
        var sax = Self.saxHandler
        // libxml2 copies the handler. Creating a push context can only fail for lack of memory.
        guard let context = htmlCreatePushParserCtxt(&sax, nil, nil, 0, nil, XML_CHAR_ENCODING_UTF8) else {
            fatalError("out of memory")
        }
        self.context = context
        context.pointee._private = Unmanaged.passUnretained(self).toOpaque()
        // With RECOVER, a script ends at its own end tag only.
        let options = [HTML_PARSE_NONET, HTML_PARSE_IGNORE_ENC, HTML_PARSE_RECOVER]
        htmlCtxtUseOptions(context, options.reduce(0) { $0 | Int32($1.rawValue) })
    }

    deinit {
        if let document = context.pointee.myDoc { xmlFreeDoc(document) }
        context.pointee.myDoc = nil
        htmlFreeParserCtxt(context)
    }

    /// Reads the next bytes of the page.
    ///
    /// - Throws: the errors of the stream.
    package func read(_ bytes: UnsafeRawBufferPointer) throws {
        if let failure { throw failure }
        try decoder.decode(bytes.bindMemory(to: UInt8.self)) { clean($0) }
        if let end = Self.endOfLastTag(in: held, from: searched) { whole = end }
        searched = held.count
        if whole >= wanted {
            try push(whole)
        } else if held.count >= Self.stride {
            // A tag that has begun stays.
            let tag = held.lastIndex(of: UInt8(ascii: "<")) ?? 0
            try push(tag > 0 ? tag : held.count)
        }
    }

    /// Ends the page, and the elements that are still open.
    ///
    /// - Throws: ``XMLStreamError`` if there is no page; also the errors of the stream.
    package func finish() throws {
        if let failure { throw failure }
        guard !decoder.isEmpty else {
            throw stream.refusal(.empty, "the body is empty (0 bytes)")
        }
        try decoder.finish { clean($0) }
        try push(held.count)
        parse(UnsafeRawBufferPointer(start: nil, count: 0), isLast: true)
        if let failure { throw failure }
        try end(downTo: 0)
        guard stream.hasRoot else {
            throw stream.refusal(.empty, "there is no HTML in the body")
        }
    }

    /// Returns the place behind the last tag; nil without one. `<!-->` and `<!--->` are none: libxml2 reads on behind them,
    /// unless a piece ends there.
    private static func endOfLastTag<Text: RandomAccessCollection<UInt8>>(in text: Text, from start: Int) -> Int?
    where Text.Index == Int {
        let last = (start..<text.endIndex).last { place in
            guard text[place] == UInt8(ascii: ">") else { return false }
            let opening = text[..<place].suffix(5)
            return !opening.suffix(4).elementsEqual("<!--".utf8) && !opening.elementsEqual("<!---".utf8)
        }
        return last.map { $0 + 1 }
    }

    // MARK: - Text

    /// Holds text with line feeds as line ends, and without the characters that no document may have.
    private func clean(_ text: UnsafeBufferPointer<UInt8>) {
        var rest = text[...]
        if isAfterReturn, rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
        isAfterReturn = text.last == UInt8(ascii: "\r")
        while let place = rest.firstIndex(where: Self.isSpecial) {
            held.append(contentsOf: rest[..<place])
            rest = rest[place...]
            switch rest.removeFirst() {
            case UInt8(ascii: "\r"):
                held.append(UInt8(ascii: "\n"))
                if rest.first == UInt8(ascii: "\n") { rest = rest.dropFirst() }
            case 0x0C:
                // A form feed is white space in HTML.
                held.append(UInt8(ascii: " "))
            case 0xEF:
                // U+FFFE and U+FFFF become U+FFFD. A character is never cut.
                let isNone = rest.starts(with: [0xBF, 0xBE]) || rest.starts(with: [0xBF, 0xBF])
                held.append(contentsOf: isNone ? [0xEF, 0xBF, 0xBD] : [0xEF])
                if isNone { rest = rest.dropFirst(2) }
            default: break
            }
        }
        held.append(contentsOf: rest)
    }

    /// True for a control character other than a tab and a line feed, and for the byte with which U+FFFE begins.
    private static func isSpecial(_ byte: UInt8) -> Bool {
        byte < 0x20 ? byte != UInt8(ascii: "\n") && byte != UInt8(ascii: "\t") : byte == 0xEF
    }

    /// The most bytes to push at once. Larger pieces would do work that cannot be interrupted.
    private static let stride = 64 << 10
    /// The fewest bytes to push: libxml2 moves what it holds at each piece.
    private static let least = 4 << 10

    /// The bytes that libxml2 has and cannot read before more come, such as a text without end.
    private var unread: UnsafeBufferPointer<UInt8> { context.pointee.unread }

    /// The fewest bytes to push, in proportion to those that libxml2 may scan again.
    private var wanted: Int { max(Self.least, min(unread.count / 4, Self.stride)) }

    /// Pushes the first held bytes. Where the pieces end matters to libxml2 2.9: it may take a part of a tag for text. So
    /// they end with a tag.
    private func push(_ count: Int) throws {
        let bytes = held
        held = Array(bytes[count...])
        (whole, searched) = (0, held.count)
        try bytes[..<count].withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                var piece = rest.prefix(Self.stride)
                if piece.count < rest.count, let end = Self.endOfLastTag(in: piece, from: piece.startIndex) {
                    piece = piece[..<end]
                }
                parse(UnsafeRawBufferPointer(rebasing: piece), isLast: false)
                if let failure { throw failure }
                try checkUnread()
                rest = rest.dropFirst(piece.count)
            }
        }
    }

    private func parse(_ bytes: UnsafeRawBufferPointer, isLast: Bool) {
        // libxml2 2.9 forgets that it looked for the end of a tag within quotes, and is to look again.
        if context.pointee.instate == XML_PARSER_START_TAG { context.pointee.checkIndex = 0 }
        htmlParseChunk(
            context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), Int32(bytes.count), isLast ? 1 : 0)
        // A script that holds the end tag of something else continues in the next piece.
        if context.pointee.instate == XML_PARSER_END_TAG, unread.isEmpty {
            context.pointee.instate = XML_PARSER_CONTENT
            context.pointee.checkIndex = 0
        }
        // Behind `</html>`, libxml2 reads no more. In HTML, what follows is a part of the body.
        while [XML_PARSER_EPILOG, XML_PARSER_EOF].contains(context.pointee.instate), failure == nil {
            let left = unread.count
            context.pointee.instate = XML_PARSER_CONTENT
            guard left > 0 else { break }
            htmlParseChunk(context, nil, 0, isLast ? 1 : 0)
            guard unread.count < left else { break }
        }
    }

    /// Checks what libxml2 will read as a whole: a tag, a comment, or the text up to the next tag.
    private func checkUnread() throws {
        let unread = unread
        guard unread.count > Self.stride else { return tag = UnreadTag() }
        var message: String?
        if unread.count > stream.limits.textLength {
            message = "a tag, a comment or a text is longer than \(stream.limits.textLength) bytes"
        } else if unread.first == UInt8(ascii: "<"), context.pointee.instate == XML_PARSER_START_TAG {
            tag.read(unread)
            if tag.attributes > stream.limits.attributes {
                message = "an element has more than \(stream.limits.attributes) attributes"
            }
        }
        if let message {
            throw fail(
                XMLStreamError(code: .limit, message: message, line: line, element: stream.openElement))
        }
    }

    private var line: Int { Int(context.pointee.input?.pointee.line ?? 1) }

    @discardableResult
    private func fail(_ error: any Error) -> any Error {
        if failure == nil { failure = error }
        return stream.fail(error)
    }
}

/// The C side: libxml2's callbacks. After an error they do nothing until the piece has ended: stopping libxml2's HTML
/// parser from within would free what it reads.
extension HTMLStreamParser {
    /// `nonisolated(unsafe)`: a table of C functions that does not change once it is made.
    private nonisolated(unsafe) static let saxHandler: xmlSAXHandler = {
        var sax = xmlSAXHandler()
        sax.initialized = UInt32(XML_SAX2_MAGIC)
        sax.startElement = { context, name, attributes in
            if let name { withParser(context) { try $0.start(name, attributes) } }
        }
        sax.endElement = { context, name in
            if let name { withParser(context) { try $0.end(name) } }
        }
        sax.characters = { context, bytes, count in
            if let bytes { withParser(context) { try $0.text(UnsafeBufferPointer(start: bytes, count: Int(count))) } }
        }
        sax.ignorableWhitespace = sax.characters
        sax.cdataBlock = sax.characters
        sax.serror = { _, _ in }
        return sax
    }()

    /// Calls a function of a C context's parser, unless there is an error. The parser owns the context, so it is alive
    /// while the context is.
    private static func withParser(_ context: UnsafeMutableRawPointer?, _ body: (HTMLStreamParser) throws -> Void) {
        guard let parser = context?.assumingMemoryBound(to: xmlParserCtxt.self).pointee._private else { return }
        Unmanaged<HTMLStreamParser>.fromOpaque(parser)._withUnsafeGuaranteedRef { parser in
            guard parser.failure == nil else { return }
            do { try body(parser) } catch { parser.fail(error) }
        }
    }

    private func start(
        _ name: UnsafePointer<UInt8>, _ attributes: UnsafeMutablePointer<UnsafePointer<UInt8>?>?
    ) throws {
        closeScope(of: name)
        if HTMLScope.isOuter(name) {
            // What a second one holds is a part of the first.
            guard outer == (HTMLScope.isRoot(name) ? 0 : 1) else { return }
            try end(downTo: outer)
        } else {
            // libxml2 has noted this element already, and does not report the end of every other.
            try end(downTo: depth - 1)
        }
        let named = try self.name(name)
        var values: [(name: XMLStreamParser.ElementName, value: UnsafeBufferPointer<UInt8>)] = []
        var next = attributes
        while let attribute = next, let name = attribute[0] {
            values.append((try self.name(name), Self.bytes(attribute[1])))
            next = attribute + 2
        }
        try stream.start(named, values, line: line)
        open.append(named)
        if HTMLScope.isOuter(name) { outer += 1 }
    }

    private func end(_ name: UnsafePointer<UInt8>) throws {
        try end(downTo: depth)
        if open.count > outer, try open.last == self.name(name) { try end(downTo: open.count - 1) }
    }

    private func text(_ bytes: UnsafeBufferPointer<UInt8>) throws {
        try end(downTo: depth)
        try stream.text(bytes, line: line)
    }

    /// Closes what the start of an element ends, for libxml2 too: it ends only what is directly around the element.
    private func closeScope(of name: UnsafePointer<UInt8>) {
        guard let names = context.pointee.nameTab, let scope = HTMLScope.opened(by: name) else { return }
        let last = Int(context.pointee.nameNr) - 1
        guard last > 0, let first = scope.firstClosed(of: UnsafeMutableBufferPointer(start: names, count: last)) else {
            return
        }
        names[first] = names[last]
        context.pointee.nameNr = Int32(first + 1)
        context.pointee.name = names[first]
    }

    /// The number of elements that are open for libxml2, `html` and `body` as they are here.
    private var depth: Int {
        let count = Int(context.pointee.nameNr)
        guard let names = context.pointee.nameTab else { return outer }
        let known = (0..<min(count, 2)).count { place in names[place].map(HTMLScope.isOuter) ?? false }
        return outer + count - known
    }

    private func end(downTo depth: Int) throws {
        while open.count > max(depth, 0) {
            open.removeLast()
            try stream.end(line: line)
        }
    }

    private func name(_ address: UnsafePointer<UInt8>) throws -> XMLStreamParser.ElementName {
        if let known = names[address] { return known }
        let name = try stream.elementName(String(cString: address))
        names[address] = name
        return name
    }

    /// Returns the bytes of a value; none for an attribute without one.
    private static func bytes(_ value: UnsafePointer<UInt8>?) -> UnsafeBufferPointer<UInt8> {
        guard let value else { return UnsafeBufferPointer(start: nil, count: 0) }
        return UnsafeBufferPointer(start: value, count: Int(xmlStrlen(value)))
    }
}
