/// The name of an element or attribute. A parser makes each name of a document once.
public struct XMLName: Sendable, Equatable {
    /// As written in the document: `itunes:author`.
    public let qualified: String
    /// Without the prefix: `author`.
    public let local: String
    /// What the prefix, or the default namespace, is bound to; nil for no namespace.
    public let namespace: String?

    package init(qualified: String, local: String, namespace: String?) {
        self.qualified = qualified
        self.local = local
        self.namespace = namespace
    }

    /// A name without what tells `camelCase`, `snake_case` and `kebab-case` apart: lower case letters and digits.
    package static func folded(_ name: String) -> String {
        name.lowercased().filter { $0 != "_" && $0 != "-" && $0 != "." }
    }

    /// Whether a name may begin with this: NameStartChar of XML 1.0, fifth edition (production 4), without the colon.
    package static func mayBegin(with scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// Whether this may stand in a name behind its beginning: NameChar (production 4a), without the colon.
    package static func mayHold(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: mayBegin(with: scalar)
        }
    }
}
