import XMLStream

/// The body that a request sends.
public struct RequestBody: Sendable, Hashable {
    /// The way in which values of `${…}` are written within the body.
    package enum Escaping: Sendable, Hashable {
        case none, xml, json

        /// Returns the escaped text; nil where it cannot be written.
        package func callAsFunction(_ text: String) -> String? {
            switch self {
            case .none: text
            case .xml: XMLText.escaped(text)
            case .json: Self.json(text)
            }
        }

        /// Returns the characters between the quotation marks of a string (RFC 8259, section 7).
        package static func json(_ text: String) -> String {
            var escaped = ""
            for scalar in text.unicodeScalars {
                switch scalar {
                case "\"": escaped += "\\\""
                case "\\": escaped += "\\\\"
                case "\n": escaped += "\\n"
                case "\r": escaped += "\\r"
                case "\t": escaped += "\\t"
                case _ where scalar.value < 0x20:
                    let digits = String(scalar.value, radix: 16)
                    escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                default: escaped.unicodeScalars.append(scalar)
                }
            }
            return escaped
        }
    }

    package var text: InterpolatedText
    var escaping = Escaping.none
    /// The Content-Type, where the declaration's headers have none.
    package var contentType: String?

    package init(text: InterpolatedText, escaping: Escaping = Escaping.none, contentType: String? = nil) {
        self.text = text
        self.escaping = escaping
        self.contentType = contentType
    }

    /// Returns the body with its references replaced by their values, which are known only when the request is sent.
    ///
    /// - Throws: ``UnwritableValue``, and the errors of `replacement`.
    package func resolved(_ replacement: (String) throws -> String) throws -> RequestBody {
        var body = self
        body.text = try text.resolved { reference in
            let value = try replacement(reference)
            guard let escaped = escaping(value) else {
                throw UnwritableValue(reference: reference)
            }
            return escaped
        }
        return body
    }
}

/// A reference whose value has a character that XML cannot hold.
package struct UnwritableValue: Error, CustomStringConvertible {
    package var reference: String

    package var description: String {
        "the value of ${\(reference)} has a character that XML cannot hold (XML 1.0, section 2.2)"
    }
}
