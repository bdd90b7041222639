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
        "the body is an HTML page, not the feed; open the URL in a browser: it may need a login, or have moved"

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
