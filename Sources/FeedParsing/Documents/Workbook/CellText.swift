import Foundation

/// Writes the number of a cell as text: as a number, or as a date or a time by the cell's format.
struct CellText {
    /// True for a workbook that counts days from 1904-01-01.
    let isFrom1904: Bool
    private var text: [UInt8] = []

    init(isFrom1904: Bool) { self.isFrom1904 = isFrom1904 }

    /// Passes the text of a number to `body`. It is valid only inside `body`.
    ///
    /// - Parameter written: the number as the workbook has it.
    mutating func write(
        _ written: UnsafeBufferPointer<UInt8>, _ format: CellFormat,
        _ body: (UnsafeBufferPointer<UInt8>) throws -> Void
    ) throws {
        if format == .number, Self.isPlain(written) { return try body(written) }
        guard written.allSatisfy(Self.isOfNumber), let value = Double(String(decoding: written, as: UTF8.self)),
            value.isFinite
        else {
            // What is no number is left to the conversion of its column, which says so.
            return try body(written)
        }
        text.removeAll(keepingCapacity: true)
        if format == .number || !append(value, format) { append(value) }
        try text.withUnsafeBufferPointer(body)
    }

    // MARK: - Numbers

    /// The digits that a double holds for certain, and that spreadsheet programs show.
    private static let digits = 15

    /// Returns true for the characters of a decimal number. `Double` reads hexadecimal ones too.
    private static func isOfNumber(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    }

    /// Returns true for a number that is written without an exponent, and either has no fraction or no more digits than a
    /// double holds for certain.
    private static func isPlain(_ written: UnsafeBufferPointer<UInt8>) -> Bool {
        var digits = 0
        var hasPoint = false
        for (index, byte) in written.enumerated() {
            switch byte {
            case UInt8(ascii: "0") where digits == 0: break
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digits += 1
            case UInt8(ascii: ".") where !hasPoint: hasPoint = true
            case UInt8(ascii: "-") where index == 0: break
            default: return false
            }
        }
        return !written.isEmpty && (!hasPoint || digits <= Self.digits)
    }

    /// Appends a number with at most 15 digits: 0.1 where a double has 0.1000000000000000055.
    private mutating func append(_ value: Double) {
        let written = String(format: "%.\(Self.digits - 1)e", value)
        let parts = written.split(separator: "e")
        guard parts.count == 2, let exponent = Int(parts[1]) else { return text += written.utf8 }
        var digits = parts[0].utf8.filter { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        while digits.count > 1, digits.last == UInt8(ascii: "0") { digits.removeLast() }
        if value < 0 { text.append(UInt8(ascii: "-")) }
        let zero = UInt8(ascii: "0")
        let point = UInt8(ascii: ".")
        switch exponent {
        case 0...20:
            let whole = exponent + 1
            text += digits.prefix(whole)
            text += [UInt8](repeating: zero, count: max(0, whole - digits.count))
            if digits.count > whole { text += [point] + digits[whole...] }
        case -20 ... -1:
            text += [zero, point] + [UInt8](repeating: zero, count: -exponent - 1) + digits
        default:
            text.append(digits[0])
            if digits.count > 1 { text += [point] + digits[1...] }
            text += "E\(exponent)".utf8
        }
    }

    // MARK: - Dates and times

    private static let secondsOfDay = 86_400
    /// The number of 9999-12-31, the last day of spreadsheet programs.
    private var lastDay: Int { isFrom1904 ? 2_957_003 : 2_958_465 }

    /// - Returns: false for a number that is no date of the calendar.
    private mutating func append(_ value: Double, _ format: CellFormat) -> Bool {
        guard value >= 0, value < Double(lastDay + 1) else { return false }
        switch format {
        case .number: return false
        case .date:
            let day = Self.split(value, false).day
            guard day <= lastDay else { return false }
            appendDate(day)
        case .dateTime(let hasFraction):
            let (day, time) = Self.split(value, hasFraction)
            guard day <= lastDay else { return false }
            appendDate(day)
            text.append(UInt8(ascii: "T"))
            appendTime(time, hasFraction)
        case .time(let hasFraction): appendTime(Self.split(value, hasFraction).time, hasFraction)
        case .elapsed(let hasFraction):
            let (days, time) = Self.split(value, hasFraction)
            appendTime(time, hasFraction, days: days)
        }
        return true
    }

    /// Returns the whole days, and the time of the day in milliseconds, to the second unless fractions are shown: programs
    /// write a time with so few digits that it would be some milliseconds off.
    private static func split(_ value: Double, _ hasFraction: Bool) -> (day: Int, time: Int) {
        let unit = hasFraction ? 1_000 : 1
        let (day, time) = Int((value * Double(secondsOfDay * unit)).rounded())
            .quotientAndRemainder(dividingBy: secondsOfDay * unit)
        return (day, time * 1_000 / unit)
    }

    private mutating func appendTime(_ milliseconds: Int, _ hasFraction: Bool, days: Int = 0) {
        let seconds = milliseconds / 1_000
        append(days * 24 + seconds / 3_600, 2)
        text.append(UInt8(ascii: ":"))
        append(seconds / 60 % 60, 2)
        text.append(UInt8(ascii: ":"))
        append(seconds % 60, 2)
        guard hasFraction else { return }
        text.append(UInt8(ascii: "."))
        append(milliseconds % 1_000, 3)
    }

    /// Appends a day by its number. Days from 1900 count 1900-02-29, which has not been: number 60 (section 18.17.4.1).
    private mutating func appendDate(_ day: Int) {
        if !isFrom1904, day == 60 { return text += "1900-02-29".utf8 }
        // 1904-01-01, 1899-12-30 and 1899-12-31, in days from 1970-01-01.
        let (year, month, number) = Self.date(day + (isFrom1904 ? -24_107 : day > 60 ? -25_569 : -25_568))
        append(year, 4)
        text.append(UInt8(ascii: "-"))
        append(month, 2)
        text.append(UInt8(ascii: "-"))
        append(number, 2)
    }

    /// Returns the date of a day from 1970-01-01 in the Gregorian calendar, by eras of 400 years that begin in March.
    private static func date(_ day: Int) -> (year: Int, month: Int, day: Int) {
        let shifted = day + 719_468
        let era = shifted / 146_097
        let dayOfEra = shifted % 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        let month = march < 10 ? march + 3 : march - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * march + 2) / 5 + 1)
    }

    private mutating func append(_ number: Int, _ width: Int) {
        let digits = String(number).utf8
        text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits
    }
}
