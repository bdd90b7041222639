extension String {
    /// The text for comparisons in which upper and lower case are the same: Unicode's full case folding, so that
    /// "Straße" and "STRASSE" are one.
    var caseFolded: String {
        var folded = ""
        for scalar in unicodeScalars {
            guard scalar.properties.changesWhenCaseFolded else {
                folded.unicodeScalars.append(scalar)
                continue
            }
            // The letters of Cherokee fold to their upper case.
            switch scalar.value {
            case 0xAB70...0xABBF, 0x13F8...0x13FD: folded += scalar.properties.uppercaseMapping
            default: folded += scalar.properties.lowercaseMapping.uppercased().lowercased()
            }
        }
        return folded
    }
}
