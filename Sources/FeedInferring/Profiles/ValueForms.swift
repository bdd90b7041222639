import FeedConfiguration
import Foundation
import XMLStream

/// The possible types of a value, other than text. A column has the types that all its values share.
struct ValueForms: OptionSet {
    let rawValue: UInt8

    static let integer = ValueForms(rawValue: 1)
    /// A number without an exponent. Those of a column must be ``DecimalPlaces/areDecimal``.
    static let decimal = ValueForms(rawValue: 2)
    static let real = ValueForms(rawValue: 4)
    static let boolean = ValueForms(rawValue: 8)
    static let date = ValueForms(rawValue: 16)
    static let datetime = ValueForms(rawValue: 32)
    static let all: ValueForms = [.integer, .decimal, .real, .boolean, .date, .datetime]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The types of numbers. What converts to one of the others also converts to the last.
    private static let numbers: ValueForms = [.integer, .decimal, .real]

    /// Returns those of some types to which a text converts, even where another spelling is restored from them. A schema may
    /// have declared one of them.
    ///
    /// - Parameter number: the same text as a number, where it is one.
    static func convertible(
        _ text: UnsafeBufferPointer<UInt8>, _ number: NumberText?, to possible: ValueForms
    ) -> ValueForms {
        var forms: ValueForms = []
        if !possible.isDisjoint(with: numbers) {
            if let number {
                forms.insert(.real)
                if !number.hasExponent { forms.insert(.decimal) }
                if Lexical.int(text) != nil { forms.insert(.integer) }
            } else if let number = Lexical.double(text), !number.isNaN {
                forms.insert(.real)
            }
        }
        if possible.contains(.boolean), Lexical.boolean(text) != nil { forms.insert(.boolean) }
        if possible.contains(.date), Lexical.date(text, ignoresZone: true) != nil { forms.insert(.date) }
        if possible.contains(.datetime), Lexical.time(text) != nil, !hasMicroseconds(text) { forms.insert(.datetime) }
        return forms.intersection(possible)
    }

    /// True where a time has more than the milliseconds that a column of times keeps.
    private static func hasMicroseconds(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let point = text.lastIndex(where: { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",") }) else {
            return false
        }
        let decimals = text[(point + 1)...].prefix { $0 &- UInt8(ascii: "0") < 10 }
        return decimals.dropFirst(3).contains { $0 != UInt8(ascii: "0") }
    }

    /// The types that are guessed, the narrowest first.
    static let types: [(form: ValueForms, type: ValueType)] = [
        (.integer, .integer), (.decimal, .decimal), (.real, .real), (.boolean, .boolean), (.date, .date),
        (.datetime, .datetime),
    ]

    /// The form of a type; nil for one that is not guessed.
    static func form(of type: ValueType) -> ValueForms? { types.first { $0.type == type }?.form }

    /// - Parameter text: the text of the value, trimmed and not empty.
    /// - Parameter number: the same text as a plain number, where it is one.
    init(_ text: UnsafeBufferPointer<UInt8>, plain number: NumberText?) {
        if let number {
            self = Self.forms(of: number, text)
        } else if Self.isTrueOrFalse(text) {
            self = .boolean
        } else {
            self = Self.dateForms(text)
        }
    }

    /// Returns the forms of a number. A double holds 15 digits of any decimal number, so a text with more is no decimal,
    /// and a real only where its digits come back: a publisher's program has then written a double, such as a
    /// coordinate. An integer may have all digits that 64 bits allow.
    private static func forms(of number: NumberText, _ text: UnsafeBufferPointer<UInt8>) -> ValueForms {
        var forms: ValueForms = number.significantDigits <= 15 || isDouble(text, number) ? .real : []
        guard !number.hasExponent else { return forms }
        if number.decimals == nil, Lexical.int(text) != nil { forms.insert(.integer) }
        if number.significantDigits <= 15 { forms.insert(.decimal) }
        return forms
    }

    /// True for a fraction of 16 or 17 digits that is a double written out.
    private static func isDouble(_ text: UnsafeBufferPointer<UInt8>, _ number: NumberText) -> Bool {
        guard (16...17).contains(number.significantDigits), let decimals = number.decimals, !number.hasExponent,
            let value = Lexical.double(text)
        else { return false }
        return String(format: "%.\(decimals)f", value) == String(decoding: text, as: UTF8.self)
    }

    /// True for `true` and `false`. A mapping may declare `yes`, `no`, `1` and `0` as booleans, but they are not
    /// guessed.
    private static func isTrueOrFalse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        (4...5).contains(text.count) && Lexical.boolean(text) != nil
    }

    /// Returns the forms of a date or time. A year, month or time alone is text, because a date would add information.
    private static func dateForms(_ text: UnsafeBufferPointer<UInt8>) -> ValueForms {
        guard (8...64).contains(text.count), Lexical.date(text) != nil else { return [] }
        let isDay = text.count >= 10 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
        // A day of a zone (`1960-01-01-05:00`, XML Schema) has no time.
        if isDay, text.count == 10 || [UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "Z")].contains(text[10]) {
            return [.date, .datetime]
        }
        let hasTime = text.contains(UInt8(ascii: ":")) || (text.count > 8 && text[8] == UInt8(ascii: "T"))
        if hasTime { return .datetime }
        let namesMonth = text.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        return namesMonth ? [.date, .datetime] : []
    }
}
