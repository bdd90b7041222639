import CLibXML2

/// The reason why a document cannot be parsed further, and the place.
public struct XMLStreamError: Error, Sendable, Equatable, CustomStringConvertible {
    public enum Code: Sendable {
        /// The document is not well-formed XML 1.0 with namespaces.
        case notWellFormed
        /// The document ended within its root element.
        case truncated
        /// The input is empty, or only white space.
        case empty
        /// The bytes are not in the encoding that the document or its transport declares.
        case encoding
        /// One of ``XMLLimits`` was exceeded.
        case limit
        /// An entity is used that lies outside the document, or that nothing declares.
        case entity
        /// The document is an HTML page where XML was expected.
        case html
    }

    /// The message about a body that is an HTML page.
    package static let htmlPage =
        "the body is an HTML page, not the feed; open the URL in a browser: it may need a login, or have moved; if the "
        + "page is the feed, set format = \"html\""

    public var code: Code
    public var message: String
    /// The line, counted from 1.
    public var line: Int
    /// The column, counted from 1 in bytes; 0 if it is unknown.
    public var column: Int
    /// The innermost open element, as written; nil outside the root.
    public var element: String?

    public init(code: Code, message: String, line: Int, column: Int = 0, element: String? = nil) {
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.element = element
    }

    public var description: String {
        // An empty body has no place to show.
        guard code != .empty else { return message }
        var text = "line \(line)"
        if column > 0 { text += ", column \(column)" }
        if let element { text += ", in <\(element)>" }
        return text + ": " + message
    }
}

extension XMLStreamError {
    /// Describes what libxml2 found.
    init(_ error: xmlError, line: Int, element: String?, hasRoot: Bool) {
        var message = error.message.map { String(cString: $0) } ?? "the document is not well-formed"
        message = message.split(separator: "\n").joined(separator: ", ")
        self.init(
            code: Code(libXML2: error.code, message: message), message: Self.words(message),
            line: error.line > 0 ? Int(error.line) : max(line, 1), column: Int(error.int2), element: element)
        let isAboutTheEnd = [XML_ERR_DOCUMENT_EMPTY, XML_ERR_DOCUMENT_END].contains { $0.rawValue == error.code }
        if !hasRoot, isAboutTheEnd {
            code = .empty
            self.message = "there is no XML document in the body"
        }
    }

    /// Returns the text for a frequent message of libxml2; others stay unchanged.
    private static func words(_ message: String) -> String {
        if let found = message.firstMatch(of: #/Opening and ending tag mismatch: (\S+) line (\d+) and (\S+)/#) {
            return "</\(found.3)> closes <\(found.1)> of line \(found.2)"
        }
        if let found = message.firstMatch(of: #/Couldn't find end of Start Tag (\S+)/#) {
            return "the tag <\(found.1)> does not end"
        }
        if let found = message.firstMatch(of: #/Input is not proper UTF-8.*Bytes: (.+)/#) {
            let bytes = found.1.replacing("0x", with: "")
            return "the bytes \(bytes) are not UTF-8; the XML declaration or the Content-Type must name the encoding"
        }
        return switch message {
        case "xmlParseEntityRef: no name": "'&' does not begin a reference; write '&amp;'"
        case "Extra content at the end of the document": "text follows the root element"
        default: message
        }
    }
}

extension XMLStreamError.Code {
    init(libXML2 code: Int32, message: String) {
        switch UInt32(bitPattern: code) {
        case XML_ERR_TAG_NOT_FINISHED.rawValue: self = .truncated
        case XML_ERR_INVALID_CHAR.rawValue: self = message.contains("UTF-8") ? .encoding : .notWellFormed
        case XML_ERR_UNKNOWN_ENCODING.rawValue, XML_ERR_UNSUPPORTED_ENCODING.rawValue,
            XML_ERR_INVALID_ENCODING.rawValue, XML_I18N_CONV_FAILED.rawValue:
            self = .encoding
        case XML_ERR_ENTITY_LOOP.rawValue, XML_ERR_NAME_TOO_LONG.rawValue: self = .limit
        case XML_ERR_UNDECLARED_ENTITY.rawValue: self = .entity
        default: self = .notWellFormed
        }
    }
}
