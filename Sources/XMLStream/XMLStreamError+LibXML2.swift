import CLibXML2

extension XMLStreamError {
    /// What libxml2 found, in its words without the line feed at their end.
    init(_ error: xmlError, line: Int, element: String?) {
        var message = error.message.map { String(cString: $0) } ?? "the document is not well-formed"
        while message.last?.isWhitespace == true { message.removeLast() }
        self.init(
            code: Code(libXML2: error.code), message: message, line: error.line > 0 ? Int(error.line) : max(line, 1),
            column: Int(error.int2), element: element)
        // xmlStopParser, entity loops and an empty document leave no place behind.
        if error.code == XML_ERR_DOCUMENT_EMPTY.rawValue { self.message = "the body has no XML document in it" }
    }
}

extension XMLStreamError.Code {
    init(libXML2 code: Int32) {
        switch UInt32(bitPattern: code) {
        case XML_ERR_DOCUMENT_EMPTY.rawValue: self = .empty
        case XML_ERR_DOCUMENT_END.rawValue, XML_ERR_TAG_NOT_FINISHED.rawValue: self = .truncated
        case XML_ERR_INVALID_CHAR.rawValue, XML_ERR_UNKNOWN_ENCODING.rawValue, XML_ERR_UNSUPPORTED_ENCODING.rawValue,
            XML_ERR_INVALID_ENCODING.rawValue, XML_I18N_CONV_FAILED.rawValue:
            self = .encoding
        case XML_ERR_ENTITY_LOOP.rawValue, XML_ERR_NAME_TOO_LONG.rawValue: self = .limit
        case XML_ERR_UNDECLARED_ENTITY.rawValue: self = .entity
        default: self = .notWellFormed
        }
    }
}
