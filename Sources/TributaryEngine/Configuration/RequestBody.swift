/// What a request sends.
public struct RequestBody: Sendable, Hashable {
    /// Where it is XML, what `${…}` stands for is escaped.
    var text: InterpolatedText
    var isXML = false
    /// The Content-Type, where the declaration's headers have none.
    var contentType: String?

    /// Itself with what is known only when the request is sent.
    ///
    /// - Throws: ``FetchError`` where a value has a character that XML cannot hold, and what `replacement` throws.
    func resolved(_ replacement: (String) throws -> String) throws -> RequestBody {
        var body = self
        body.text = try text.resolved { reference in
            let value = try replacement(reference)
            guard isXML else { return value }
            guard let escaped = XMLText.escaped(value) else {
                throw FetchError(
                    .status, "the value of ${\(reference)} has a character that XML cannot hold (XML 1.0, section 2.2)")
            }
            return escaped
        }
        return body
    }
}
