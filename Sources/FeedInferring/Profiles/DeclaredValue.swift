package import FeedConfiguration
import XMLStream

/// The schema's declaration of the values of an attribute, or of the text of an element.
struct DeclaredValue {
    var type = ValueType.text
    /// How its texts are written where the type does not say it: `hex`.
    var format: String?
    /// The values allowed, if they are listed: the first ones, and the number of all.
    var choices: [String] = []
    var choiceCount = 0
    /// True if each record has it.
    var isRequired = false
    /// The value of an attribute that is not written.
    var fallback: String?
    /// True for the types `ID` and `IDREF`.
    var identifies = false
    var refers = false
    var documentation: String?

    static let mostChoices = 12

    /// The choices and the documentation in one line of bounded length; nil without one.
    var comment: String? {
        var parts: [String] = []
        if choiceCount > 0 {
            let rest = choiceCount - choices.count
            parts.append(choices.joined(separator: ", ") + (rest > 0 ? ", … (\(choiceCount.grouped) values)" : ""))
        }
        if let documentation { parts.append(documentation) }
        return parts.isEmpty ? nil : Self.line(parts.joined(separator: "; "))
    }

    /// Returns a text as a comment can hold it: in one line, without control characters, and not long.
    static func line(_ text: String, longest: Int = 120) -> String {
        let scalars = text.unicodeScalars.map { $0.properties.isWhitespace ? " " : $0 }
        let plain = String(String.UnicodeScalarView(scalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        guard plain.count > longest else { return plain }
        let cut = plain.prefix(longest - 1)
        return (cut.lastIndex(of: " ").map { cut[..<$0] } ?? cut) + "…"
    }
}

extension ElementProfile {
    /// Declares the type of each text below that is a floating-point number by a schema of Protocol Buffers, as its values may
    /// be whole ones by chance.
    ///
    /// - Parameter path: the fields that lead here.
    package func declareFloats(of schema: ProtobufSchema, at path: [String] = []) {
        for child in children {
            let path = path + [child.name.local]
            if schema.isFloat(path) { child.text.declared = DeclaredValue(type: .real) }
            child.declareFloats(of: schema, at: path)
        }
    }
}

/// The schema's declaration of an element, apart from its values.
struct ElementDeclaration {
    /// True if each parent has it.
    var isRequired = false
    /// True if a column keeps the element's markup: it holds text with markup, any elements, or too many of them.
    var isMarkup = false
    /// True if it is markup only because it lies within another element of its type, or would have too many columns.
    var isCut = false
    /// True if the element has the declaration of an enclosing element, so that it is a further level of that one.
    var isLevel = false
    /// True if elements of any name may be below it, in addition to the declared ones.
    var isOpen = false
    /// The keys and references that hold within the element.
    var constraints: [DeclaredConstraint] = []
}

/// A key, a unique value, or a reference to one of them (XML Schema part 1, section 3.11).
struct DeclaredConstraint {
    enum Kind: String { case key, unique, keyref }

    var kind: Kind
    /// The name as the schema writes it.
    var label: String
    var name: ElementProfile.Identity?
    /// The key that a reference names.
    var target: ElementProfile.Identity?
    /// The path of the elements for which it holds.
    var selector: String
    /// The paths of its values.
    var fields: [String]
}
