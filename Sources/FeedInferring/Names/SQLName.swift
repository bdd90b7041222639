import Foundation

/// Conversion of XML names to names of tables and columns: ASCII letters in lower case, digits and `_`.
enum SQLName {
    /// The most characters of a name: PostgreSQL cuts longer ones.
    static let longest = 63

    /// Converts a name: `pubDate` becomes `pub_date`, `XMLFile` `xml_file`, `Größe` `grosse`. Returns an empty text
    /// where nothing remains.
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

    /// Returns the words of a name, in lower case.
    static func words(_ name: String) -> [String] { snakeCase(name).split(separator: "_").map(String.init) }

    /// Returns a name's letters and digits in lower case, without separators.
    static func plain(_ name: String) -> String { snakeCase(name).replacing("_", with: "") }

    /// Joins parts with `_`. Where the result would be too long, the first parts are left out.
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

    /// Changes a name that begins with a prefix reserved by Tributary, GRDB or SQLite.
    static func unreserved(_ name: String) -> String {
        let isReserved = ["tributary_", "grdb_", "sqlite_"].contains(where: name.hasPrefix)
        return join([(isReserved ? "x_" : "") + name])
    }

    private static func latin(_ name: String) -> String {
        guard !name.utf8.allSatisfy({ $0 < 128 }) else { return name }
        var latin = name.applyingTransform(.toLatin, reverse: false) ?? name
        for (letter, replacement) in ligatures { latin = latin.replacingOccurrences(of: letter, with: replacement) }
        // Letters with marks are decomposed, and the marks removed: they would split the word.
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

/// Names a source after the address of its document.
package enum SourceName {
    /// Returns the file's name up to its first point. Where that is a common name such as `feed`, the host's name is
    /// used.
    package static func make(of url: String) -> String {
        let parts = URLComponents(string: url)
        let file = (parts?.path ?? url).split(separator: "/").last?.split(separator: ".").first.map(String.init) ?? ""
        let name = SQLName.snakeCase(file)
        if !common.contains(name) { return name }
        let labels = parts?.host?.split(separator: ".").filter { $0 != "www" } ?? []
        let host = SQLName.snakeCase(String(labels.dropLast().last ?? labels.last ?? ""))
        return [host, name].first { !$0.isEmpty } ?? "source"
    }

    private static let common: Set = [
        "", "feed", "feeds", "rss", "atom", "index", "main", "sitemap", "xml", "export", "all",
    ]
}
