import Foundation
import XMLStream

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
        guard let value = Lexical.double(written), value.isFinite else {
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

    /// Returns true for a number that is written without an exponent, and either has no fraction or no more digits than a
    /// double holds for certain.
    private static func isPlain(_ written: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let number = NumberText(written), !number.hasExponent, number.sign != UInt8(ascii: "+") else {
            return false
        }
        return number.fraction == nil || number.significantDigits <= digits
    }

    /// Appends a number with at most 15 digits: 0.1 where a double has 0.1000000000000000055.
    private mutating func append(_ value: Double) {
        let rounded = Double(String(format: "%.\(Self.digits - 1)e", value)) ?? value
        if rounded == 0 || (1e-20..<1e21).contains(rounded.magnitude) {
            text += Lexical.plainText(rounded).utf8
        } else {
            text += "\(rounded)".uppercased().replacing("+", with: "").utf8
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
        let date = CivilDate(daysSince1970: day + (isFrom1904 ? -24_107 : day > 60 ? -25_569 : -25_568))
        append(date.year, 4)
        text.append(UInt8(ascii: "-"))
        append(date.month, 2)
        text.append(UInt8(ascii: "-"))
        append(date.day, 2)
    }

    private mutating func append(_ number: Int, _ width: Int) {
        let digits = String(number).utf8
        text += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, width - digits.count)) + digits
    }
}
