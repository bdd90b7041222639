import CLibXML2

extension XMLStreamError {
    /// Describes what libxml2 found, in its words without the final line feed.
    init(_ error: xmlError, line: Int, element: String?, hasRoot: Bool) {
        var message = error.message.map { String(cString: $0) } ?? "the document is not well-formed"
        message = message.split(separator: "\n").joined(separator: ", ")
        self.init(
            code: Code(libXML2: error.code, message: message), message: message,
            line: error.line > 0 ? Int(error.line) : max(line, 1), column: Int(error.int2), element: element)
        let isAboutTheEnd = [XML_ERR_DOCUMENT_EMPTY, XML_ERR_DOCUMENT_END].contains { $0.rawValue == error.code }
        if !hasRoot, isAboutTheEnd {
            code = .empty
            self.message = "there is no XML document in the body"
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
