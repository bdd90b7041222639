import Testing
@testable import XMLStream

/// Decimals as numbers, where one stands for them alone.
@Suite struct DecimalTests {
    private func number(_ text: String) -> Lexical.ExactNumber? {
        var text = text
        return text.withUTF8 { Lexical.exactNumber($0) }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0.0", 0), ("00", 0), ("7", 7), ("-7.00", -7), ("+120", 120), ("007", 7), (".0", 0),
            ("9223372036854775807", .max), ("-9223372036854775808", .min),
            ("1000000000000000000", 1_000_000_000_000_000_000),
        ] as [(String, Int64)])
    func wholeNumbers(text: String, expected: Int64) {
        #expect(number(text) == .integer(expected))
    }

    @Test(arguments: [
        ("10.5", 10.5), ("0.1", 0.1), ("-0.10", -0.1), (".5", 0.5), ("00.25", 0.25),
        ("123456789.012345", 123456789.012345),
        ("52.520006599999995", 52.520006599999995), ("0.30000000000000004", 0.30000000000000004),
        ("100000000000000000000", 1e20), ("0.000000000000000000000000000001", 1e-30),
    ])
    func fractions(text: String, expected: Double) {
        #expect(number(text) == .real(expected))
    }

    @Test(arguments: [
        "12345678901234567890.123456789", "0.1234567890123456789", "9223372036854775808", "0.1000000000000000055",
        "9007199254740993.1", "52.520006599999998", "123456789012345678901234567890",
        "0." + String(repeating: "0", count: 400) + "1",
    ])
    func moreDigitsThanANumberKeeps(text: String) {
        #expect(number(text) == nil)
    }

    @Test(arguments: [
        (0.1, "0.1"), (1e-7, "0.0000001"), (1.5e-10, "0.00000000015"), (1e20, "100000000000000000000"),
        (-2.5e17, "-250000000000000000"), (3, "3"), (-0.25, "-0.25"), (1.2345e16, "12345000000000000"),
    ])
    func withoutAnExponent(number: Double, expected: String) {
        #expect(Lexical.plainText(number) == expected)
    }

    /// Whatever becomes a number has the same digits when it is written again.
    @Test func theDigitsComeAgain() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let digits = (0..<Int.random(in: 1...21, using: &generator)).map { _ in
                String(Int.random(in: 0...9, using: &generator))
            }.joined()
            let places = Int.random(in: 0...digits.count, using: &generator)
            let text = String(digits.dropLast(places)) + "." + String(digits.suffix(places))
            let written =
                switch number(text) {
                case .integer(let integer): String(integer)
                case .real(let real): Lexical.plainText(real)
                case nil: text
                }
            #expect(stripped(written) == stripped(text), "\(text)")
        }
    }

    private func stripped(_ text: String) -> String {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let whole = parts[0].drop { $0 == "0" }
        var fraction = parts.count > 1 ? parts[1] : ""
        while fraction.last == "0" { fraction.removeLast() }
        return whole + "." + fraction
    }
}
