import Foundation

/// Names of tables and columns made of names of XML: ASCII letters in lower case, digits and `_`.
enum SQLName {
    /// What PostgreSQL keeps of a name.
    static let longest = 63

    /// `pubDate` becomes `pub_date`, `XMLFile` `xml_file`, `Größe` `grosse`; empty where nothing is left of the name.
    static func snakeCase(_ name: String) -> String {
        let letters = Array(latin(name).unicodeScalars)
        var snake = ""
        for (index, letter) in letters.enumerated() {
            guard letter.isASCII, letter.properties.isAlphabetic || ("0"..."9").contains(letter) else {
                if !snake.isEmpty, !snake.hasSuffix("_") { snake += "_" }
                continue
            }
            if letter.properties.isUppercase, index > 0, !snake.hasSuffix("_"), !snake.isEmpty {
                let isAfterSmall = !letters[index - 1].properties.isUppercase
                let isBeforeSmall = index + 1 < letters.count && letters[index + 1].properties.isLowercase
                if isAfterSmall || isBeforeSmall { snake += "_" }
            }
            snake += letter.properties.lowercaseMapping
        }
        while snake.hasSuffix("_") { snake.removeLast() }
        return snake.first?.isNumber ?? false ? "n" + snake : snake
    }

    /// Parts joined with `_`; the first ones are left out where all are too long.
    static func join(_ parts: [String]) -> String {
        var kept: [String] = []
        var length = -1
        for part in parts.reversed() where !part.isEmpty {
            length += 1 + part.count
            guard kept.isEmpty || length <= longest else { break }
            kept.append(part)
        }
        return String(kept.reversed().joined(separator: "_").prefix(longest))
    }

    /// Tributary, GRDB and SQLite keep names that begin with theirs.
    static func unreserved(_ name: String) -> String {
        let isReserved = ["tributary_", "grdb_", "sqlite_"].contains(where: name.hasPrefix)
        return join([(isReserved ? "x_" : "") + name])
    }

    private static func latin(_ name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 128 }) else { return name }
        var latin = name.applyingTransform(.toLatin, reverse: false) ?? name
        for (letter, replacement) in ligatures { latin = latin.replacingOccurrences(of: letter, with: replacement) }
        // What is left of a letter with marks are marks, which are no part of a word's end.
        return String(
            String.UnicodeScalarView(
                latin.decomposedStringWithCanonicalMapping.unicodeScalars.filter {
                    $0.properties.generalCategory != .nonspacingMark
                }))
    }

    private static let ligatures = [
        "ß": "ss", "æ": "ae", "Æ": "AE", "œ": "oe", "Œ": "OE", "ø": "o", "Ø": "O", "ł": "l", "Ł": "L", "đ": "d",
        "Đ": "D", "þ": "th", "Þ": "Th", "ð": "d", "ı": "i", "ʹ": "", "ʺ": "",
    ]
}
