extension String {
    /// Returns the text with every character written out that a terminal would act upon instead of showing it: control
    /// characters with tab and line ends (`\n`, `\u{1B}`), those of C1, line and paragraph separators, and the marks that
    /// change the direction of text (Unicode Standard Annex 9). Whatever comes from a feed, a server or a store passes
    /// through here before it is printed.
    ///
    /// - Parameter keepsLines: true if `\n` stays, as the text is of several lines.
    package func escapedForTerminal(keepsLines: Bool = false) -> String {
        // Most texts have none of the bytes with which such a character begins.
        guard utf8.contains(where: { $0 < 0x20 || [0x7F, 0xC2, 0xD8, 0xE2].contains($0) }) else { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar.value {
            case 0x0A where keepsLines: escaped.unicodeScalars.append(scalar)
            case 0x09: escaped += "\\t"
            case 0x0A: escaped += "\\n"
            case 0x0D: escaped += "\\r"
            case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069:
                escaped += "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
