import XMLStream

/// What a request sends.
public struct RequestBody: Sendable, Hashable {
    /// How what `${…}` stands for is written within the body.
    enum Escaping: Sendable, Hashable {
        case none, xml, json

        /// Nil where it cannot be written.
        func callAsFunction(_ text: String) -> String? {
            switch self {
            case .none: text
            case .xml: XMLText.escaped(text)
            case .json: JSONBodyReader.escaped(text)
            }
        }
    }

    var text: InterpolatedText
    var escaping = Escaping.none
    /// The Content-Type, where the declaration's headers have none.
    var contentType: String?

    /// Itself with what is known only when the request is sent.
    ///
    /// - Throws: ``FetchError`` where a value has a character that XML cannot hold, and what `replacement` throws.
    func resolved(_ replacement: (String) throws -> String) throws -> RequestBody {
        var body = self
        body.text = try text.resolved { reference in
            let value = try replacement(reference)
            guard let escaped = escaping(value) else {
                throw FetchError(
                    .status, "the value of ${\(reference)} has a character that XML cannot hold (XML 1.0, section 2.2)")
            }
            return escaped
        }
        return body
    }
}
