/// The name of an element or attribute. A parser makes each name of a document once.
public struct XMLName: Sendable, Equatable {
    /// The name as written in the document: `itunes:author`.
    public let qualified: String
    /// The name without the prefix: `author`.
    public let local: String
    /// The namespace that the prefix, or the default namespace, is bound to; nil for none.
    public let namespace: String?

    /// The name of a column of CSV or of a member of an object, of which ``local`` is made; nil for others.
    package let written: String?

    package init(qualified: String, local: String, namespace: String?, written: String? = nil) {
        self.qualified = qualified
        self.local = local
        self.namespace = namespace
        self.written = written
    }

    /// Returns a name's letters and digits in lower case, equal for `camelCase`, `snake_case` and `kebab-case`.
    package static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." }
    }

    /// True if a name may begin with this: NameStartChar of XML 1.0, fifth edition (production 4), without the colon.
    package static func mayBegin(with scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// True if this may follow in a name: NameChar (production 4a), without the colon.
    package static func mayHold(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: mayBegin(with: scalar)
        }
    }
}

/// Makes a valid XML element name from any text (XML 1.0, fifth edition, productions 4 and 4a). The colon is left out,
/// because it separates a prefix.
///
/// Each Unicode scalar that a name may hold is kept, and any other becomes `_`. Where the first character may not begin
/// a name, such as a digit, `_` is put before it. An empty text becomes `_`. So `area_m²` is `area_m_`, `a b` is `a_b`,
/// `a:b` is `a_b`, `1x` is `_1x`, and `é` stays.
package enum ElementNaming {
    package static func name(_ text: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            let isAllowed = XMLName.mayHold(scalar)
            if name.isEmpty, isAllowed, !XMLName.mayBegin(with: scalar) { name.append("_") }
            name.append(isAllowed ? scalar : "_")
        }
        return name.isEmpty ? "_" : String(name)
    }
}
