import FeedModel
import Foundation
import XMLStream

/// The body that a request sends.
public struct RequestBody: Sendable, Hashable {
    /// The way in which values of `${…}` are written within the body.
    package enum Escaping: Sendable, Hashable {
        case none, xml, json

        /// Returns the escaped text; nil if it cannot be written.
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

    /// Returns the body with its references replaced by their values, which are known only when the request is sent.
    ///
    /// - Throws: ``UnwritableValue``, and the errors of `replacement`.
    package func resolved(_ replacement: (Reference) throws -> String) throws -> RequestBody {
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

    /// Returns the body with a parameter: a member of the JSON object, or the content of an XML element.
    ///
    /// - Throws: ``Finding``.
    package func setting(_ name: String, to value: String) throws -> RequestBody {
        var body = self
        switch escaping {
        case .json: body.text = InterpolatedText(value: try settingMember(name, value), template: text.template)
        case .xml: body.text = InterpolatedText(value: try settingElement(name, value), template: text.template)
        case .none:
            throw Finding("'\(name)' has no place in a body of plain text", help: "write it as 'json' or 'xml'")
        }
        return body
    }

    private func settingMember(_ name: String, _ value: String) throws -> String {
        guard let object = try? JSONSerialization.jsonObject(with: Data(text.value.utf8)) as? [String: Any] else {
            throw Finding("'\(name)' has no place in a body that is no object of JSON")
        }
        let steps = object[name] == nil ? name.split(separator: "/").map(String.init) : [name]
        let changed = try Self.object(object, setting: steps[...], to: value, of: name)
        let data = try JSONSerialization.data(withJSONObject: changed, options: [.sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }

    private static func object(
        _ object: [String: Any], setting steps: ArraySlice<String>, to value: String, of name: String
    ) throws -> [String: Any] {
        guard let step = steps.first else { return object }
        var object = object
        if steps.count > 1 {
            guard let inner = object[step] as? [String: Any] else {
                throw Finding("'\(name)' has no place in the body, which has no object '\(step)'")
            }
            object[step] = try Self.object(inner, setting: steps.dropFirst(), to: value, of: name)
        } else {
            // A cursor that the declaration writes as a number stays one.
            object[step] = object[step] is NSNumber ? Int64(value).map { $0 as Any } ?? value : value
        }
        return object
    }

    private func settingElement(_ name: String, _ value: String) throws -> String {
        guard let escaped = XMLText.escaped(value) else {
            throw Finding("the value of '\(name)' has a character that XML cannot hold")
        }
        // The first element of that name in the text, even in a comment of a `text` or `file`: page.md says so.
        let tag = try Regex(
            "<((?:[^\\s<>/:]+:)?\(NSRegularExpression.escapedPattern(for: name)))((?:\\s[^<>]*?)?)(?:/>|>[^<]*</\\1>)")
        guard let match = try tag.firstMatch(in: text.value), let opening = match[1].substring,
            let rest = match[2].substring
        else {
            throw Finding("the body has no element '\(name)', without elements in it, that takes the token")
        }
        return text.value.replacingCharacters(in: match.range, with: "<\(opening)\(rest)>\(escaped)</\(opening)>")
    }
}

/// A reference whose value has a character that XML cannot hold.
package struct UnwritableValue: Error, CustomStringConvertible {
    package var reference: Reference

    package var description: String {
        "the value of ${\(reference)} has a character that XML cannot hold (XML 1.0, section 2.2)"
    }
}
