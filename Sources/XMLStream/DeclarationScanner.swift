/// Finds the end of a document's type declaration while the document arrives, in pieces of any size.
///
/// libxml2 reads an internal subset as a whole. It looks for its end again with each piece, and takes a `]>` in a comment or a
/// processing instruction for it where a piece ends in these. What becomes of the document would depend on its pieces.
///
/// Bytes of NUL are passed over, so that UTF-16 is scanned, too.
struct DeclarationScanner {
    private enum State {
        /// Before the root element, outside of markup.
        case outside
        /// After `<!` or `<?` of something that is not known yet.
        case opening
        /// Until this text; then again in the declaration, or outside of it.
        case section(end: [UInt8], matched: Int, isWithin: Bool)
        case declaration(quote: UInt8, depth: Int)
        /// The root element has begun, or what is no XML.
        case end
    }

    private var state = State.outside
    /// The last bytes, the last one lowest.
    private var recent: UInt32 = 0

    /// True within a document type declaration.
    var isWithin: Bool {
        switch state {
        case .declaration, .section(_, _, true): true
        default: false
        }
    }

    /// True once a declaration has begun.
    private(set) var hasBegun = false

    /// True once no declaration can come any more.
    var isAtEnd: Bool { if case .end = state { true } else { false } }

    /// True once the declaration has an internal subset.
    private(set) var hasSubset = false

    mutating func read(_ bytes: UnsafeRawBufferPointer) {
        for byte in bytes where byte != 0 {
            if isAtEnd { return }
            read(byte)
        }
    }

    mutating func read(_ byte: UInt8) {
        recent = recent << 8 | UInt32(byte)
        switch state {
        case .end: break
        case .outside:
            if byte == UInt8(ascii: "<") { state = .opening }
        case .opening: open(byte)
        case .section(let end, var matched, let isWithin):
            matched = Self.matched(byte, after: matched, of: end)
            state =
                matched < end.count
                ? .section(end: end, matched: matched, isWithin: isWithin)
                : isWithin ? .declaration(quote: 0, depth: 1) : .outside
        case .declaration(let quote, let depth): declare(byte, quote, depth)
        }
    }

    /// Returns how many bytes of an end have come with one more. Its first bytes may all be the same: `--->`, `]]]>`.
    static func matched(_ byte: UInt8, after count: Int, of end: [UInt8]) -> Int {
        if byte == end[count] { return count + 1 }
        if count == 2, end[0] == end[1], byte == end[0] { return 2 }
        return byte == end[0] ? 1 : 0
    }

    private mutating func open(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "!"): break
        case UInt8(ascii: "?"): state = .section(end: Array("?>".utf8), matched: 0, isWithin: false)
        case UInt8(ascii: "-") where recent == 0x3C21_2D2D:
            state = .section(end: Array("-->".utf8), matched: 0, isWithin: false)
        case UInt8(ascii: "-") where recent & 0xFFFFFF == 0x3C212D: break
        case UInt8(ascii: "D") where recent & 0xFFFFFF == 0x3C2144:
            state = .declaration(quote: 0, depth: 0)
            hasBegun = true
        default: state = .end
        }
    }

    private mutating func declare(_ byte: UInt8, _ quote: UInt8, _ depth: Int) {
        if quote != 0 {
            if byte == quote { state = .declaration(quote: 0, depth: depth) }
            return
        }
        // Quotes and brackets of comments and processing instructions are text.
        if depth > 0, recent == 0x3C21_2D2D {
            state = .section(end: Array("-->".utf8), matched: 0, isWithin: true)
        } else if depth > 0, recent & 0xFFFF == 0x3C3F {
            state = .section(end: Array("?>".utf8), matched: 0, isWithin: true)
        } else {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): state = .declaration(quote: byte, depth: depth)
            case UInt8(ascii: "["):
                hasSubset = true
                state = .declaration(quote: 0, depth: 1)
            case UInt8(ascii: "]"): state = .declaration(quote: 0, depth: 0)
            case UInt8(ascii: ">") where depth == 0: state = .outside
            default: break
            }
        }
    }
}
