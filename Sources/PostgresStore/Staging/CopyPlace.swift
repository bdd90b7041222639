import Foundation

/// The place at which COPY stopped, parsed from the server's message: `COPY items, line 3, column size: "abc"`. In
/// other languages the words differ.
struct CopyPlace: Equatable {
    /// The row, from 1.
    var line: Int
    var column: String?

    init?(_ context: String, table: String) {
        guard let name = context.range(of: table) else { return nil }
        let rest = context[name.upperBound...].drop { !$0.isASCII || !$0.isNumber }
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let line = Int(digits) else { return nil }
        self.line = line
        // ", column size: "abc"".
        let place = rest[digits.endIndex...]
        guard place.hasPrefix(", "), let end = place.range(of: ": ") else { return }
        let words = place[place.index(place.startIndex, offsetBy: 2)..<end.lowerBound]
        guard let space = words.firstIndex(of: " ") else { return }
        column = String(words[words.index(after: space)...])
    }
}
