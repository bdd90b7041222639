/// Makes the name of an XML element of any text (XML 1.0, fifth edition, productions 4 and 4a, without the colon, which
/// stands behind a prefix).
///
/// Each Unicode scalar that may stand in a name is kept and each other becomes `_`; a name that would begin with what may
/// only stand behind the first character, such as a digit, gets `_` before it; of nothing comes `_`. So `area_m²` is
/// `area_m_`, `a b` is `a_b`, `a:b` is `a_b`, `1x` is `_1x`, and `é` stays.
enum ElementNaming {
    static func name(_ text: String) -> String {
        var name = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if name.isEmpty, !isStart(scalar), isInner(scalar) { name.append("_") }
            name.append(isStart(scalar) || isInner(scalar) ? scalar : "_")
        }
        return name.isEmpty ? "_" : String(name)
    }

    /// NameStartChar, without the colon.
    private static func isStart(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    /// What NameChar has besides.
    private static func isInner(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }
}
