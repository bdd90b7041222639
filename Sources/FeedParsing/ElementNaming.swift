import XMLStream

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
            let isAllowed = XMLName.mayHold(scalar)
            if name.isEmpty, isAllowed, !XMLName.mayBegin(with: scalar) { name.append("_") }
            name.append(isAllowed ? scalar : "_")
        }
        return name.isEmpty ? "_" : String(name)
    }
}
