/// How the style of a cell shows its number (ISO/IEC 29500-1, sections 18.8.30 and 18.8.31).
enum CellFormat: Sendable, Hashable {
    case number
    case date
    /// - Parameter hasFraction: true if fractions of a second are shown.
    case dateTime(hasFraction: Bool)
    case time(hasFraction: Bool)
    /// A time that goes on beyond 24 hours: `[h]:mm`.
    case elapsed(hasFraction: Bool)

    /// Returns the format with a number for which a workbook has no code of its own.
    init(builtIn number: Int) {
        self =
            switch number {
            case 14...17, 27...31, 36, 50...58: .date
            case 18...21, 32...35, 45: .time(hasFraction: false)
            case 22: .dateTime(hasFraction: false)
            case 46: .elapsed(hasFraction: false)
            case 47: .time(hasFraction: true)
            default: .number
            }
    }

    /// Returns the format of a code such as `dd.mm.yyyy`, by its first section.
    init(code: String) {
        var scan = Scan()
        var rest = Array(code.lowercased().utf8)[...]
        while let byte = rest.popFirst(), byte != UInt8(ascii: ";") {
            switch byte {
            case UInt8(ascii: "\""):
                rest = rest.drop { $0 != UInt8(ascii: "\"") }.dropFirst()
            // An escaped character; a space as wide as a character; a character that fills the cell.
            case UInt8(ascii: "\\"), UInt8(ascii: "_"), UInt8(ascii: "*"): rest = rest.dropFirst()
            case UInt8(ascii: "["):
                let content = rest.prefix { $0 != UInt8(ascii: "]") }
                rest = rest.dropFirst(content.count + 1)
                if let first = content.first, "hms".utf8.contains(first), content.allSatisfy({ $0 == first }) {
                    scan.isElapsed = true
                    scan.isAfterSeconds = first == UInt8(ascii: "s")
                }
            default: scan.take(byte, &rest)
            }
        }
        self = scan.format
    }

    /// The parts of a code so far.
    private struct Scan {
        var isElapsed = false
        var isAfterSeconds = false
        private var hasDate = false
        private var hasTime = false
        private var hasMonthOrMinute = false
        private var hasFraction = false

        var format: CellFormat {
            if isElapsed { return .elapsed(hasFraction: hasFraction) }
            if hasTime { return hasDate ? .dateTime(hasFraction: hasFraction) : .time(hasFraction: hasFraction) }
            return hasDate || hasMonthOrMinute ? .date : .number
        }

        mutating func take(_ byte: UInt8, _ rest: inout ArraySlice<UInt8>) {
            func skips(_ word: String) -> Bool {
                guard rest.starts(with: word.utf8) else { return false }
                rest = rest.dropFirst(word.utf8.count)
                return true
            }
            let wasAfterSeconds = isAfterSeconds
            isAfterSeconds = byte == UInt8(ascii: "s")
            switch byte {
            case UInt8(ascii: "a") where skips("m/pm") || skips("/p"): hasTime = true
            case UInt8(ascii: "g") where skips("eneral"): break
            // A number with an exponent. Alone, it is the year of an era, as is the era itself.
            case UInt8(ascii: "e") where rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-"): break
            case UInt8(ascii: "y"), UInt8(ascii: "d"), UInt8(ascii: "e"), UInt8(ascii: "g"): hasDate = true
            case UInt8(ascii: "h"), UInt8(ascii: "s"): hasTime = true
            case UInt8(ascii: "m"):
                // Three letters and more are the name of a month.
                if skips("mm") { hasDate = true } else { hasMonthOrMinute = true }
                rest = rest.drop { $0 == UInt8(ascii: "m") }
            case UInt8(ascii: ".") where wasAfterSeconds && rest.first == UInt8(ascii: "0"): hasFraction = true
            default: break
            }
        }
    }
}
