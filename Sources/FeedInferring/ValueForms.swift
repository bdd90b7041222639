import XMLStream

/// The types that a value could be of, other than text. Those of a column are what its values have in common.
struct ValueForms: OptionSet {
    let rawValue: UInt8

    static let integer = ValueForms(rawValue: 1)
    /// A number with a point and without an exponent; a column's must all have as many decimals.
    static let decimal = ValueForms(rawValue: 2)
    static let real = ValueForms(rawValue: 4)
    static let boolean = ValueForms(rawValue: 8)
    static let date = ValueForms(rawValue: 16)
    static let datetime = ValueForms(rawValue: 32)
    static let all: ValueForms = [.integer, .decimal, .real, .boolean, .date, .datetime]

    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// - Parameter text: trimmed and not empty.
    /// - Parameter number: the same text as a number, where it is one.
    init(_ text: UnsafeBufferPointer<UInt8>, number: PlainNumber?) {
        if let number {
            self = Self.forms(of: number, text)
        } else if Self.isTrueOrFalse(text) {
            self = .boolean
        } else {
            self = Self.dateForms(text)
        }
    }

    /// A double holds 15 digits of any decimal number, so more are no number; an integer may have as many as 64 bits
    /// allow.
    private static func forms(of number: PlainNumber, _ text: UnsafeBufferPointer<UInt8>) -> ValueForms {
        var forms: ValueForms = number.significantDigits <= 15 ? .real : []
        guard !number.hasExponent else { return forms }
        if number.decimals == nil {
            if Lexical.integer(text, as: Int64.self) != nil { forms.insert(.integer) }
        } else if number.significantDigits <= 15 {
            forms.insert(.decimal)
        }
        return forms
    }

    /// `yes`, `no`, `1` and `0` are booleans to a mapping that says so, and nothing that can be guessed.
    private static func isTrueOrFalse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        (4...5).contains(text.count) && Lexical.boolean(text) != nil
    }

    /// Years, months and times alone are text: a date would add to them what they do not say.
    private static func dateForms(_ text: UnsafeBufferPointer<UInt8>) -> ValueForms {
        guard (8...64).contains(text.count), Lexical.date(text) != nil else { return [] }
        let hasTime = text.contains(UInt8(ascii: ":")) || (text.count > 8 && text[8] == UInt8(ascii: "T"))
        if hasTime { return .datetime }
        let isDay = text.count >= 10 && text[4] == UInt8(ascii: "-") && text[7] == UInt8(ascii: "-")
        let namesMonth = text.contains { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }
        return isDay || namesMonth ? [.date, .datetime] : []
    }
}
