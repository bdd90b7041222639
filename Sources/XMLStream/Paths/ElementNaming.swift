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
