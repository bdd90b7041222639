import Foundation
import Testing
import XMLStream

@Suite struct LexicalTests {
    private func with<Value>(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) -> Value) -> Value {
        Array(text.utf8).withUnsafeBufferPointer(body)
    }

    @Test(
        arguments: [
            ("0", 0), ("-128", -128), ("+7", 7), ("127", 127), ("128", nil), ("-129", nil), ("", nil), ("1.0", nil),
            ("x", nil),
            ("-", nil), ("1 2", nil),
        ] as [(String, Int8?)])
    func integers(text: String, value: Int8?) {
        #expect(with(text) { Lexical.integer($0, as: Int8.self) } == value)
    }

    @Test(arguments: [
        "0", "-1.5", "1e3", "1234567.89", "0.1", "3.141592653589793238", "1e-320", "-INF", "+.5", "5.",
        "1.7976931348623157e308",
    ])
    func numbers(text: String) {
        let expected = text == "-INF" ? -Double.infinity : Double(text)
        #expect(with(text) { Lexical.double($0) } == expected)
    }

    @Test(arguments: ["", ".", "1,5", "0x10", "1e", "abc", "1 2", "--1", "infinity", "nan"])
    func notNumbers(text: String) {
        #expect(with(text) { Lexical.double($0) } == nil)
    }

    /// Texts that are taken as they are must be those that would be written.
    @Test(arguments: [
        "2026-11-21", "2024-02-29", "2023-02-29", "2026-13-01", "2026-00-10", "2026-11-31", "0000-01-01", "9999-12-31",
        "ab12-01-01", "12ab-01-01", "2026-1-011", "2026/11/21", "2026-11-2x", "-026-11-21", "20261121", "2026-11-21Z",
        "2026-11-21T08:30:00Z", "2026-11-21T24:00:00Z", "2026-11-21T23:59:60Z", "2026-02-30T08:30:00Z",
        "2026-11-21 08:30:00Z", "2026-11-21t08:30:00Z", "2026-11-21T08:30:00z", "2026-11-21T0a:30:00Z",
        "2026-11-21T08:60:00Z", "2026-11-21T08-30:00Z", "0000-01-01T00:00:00Z", "2026-11-21T08:30:00+01:00", "",
    ])
    func canonicalDates(text: String) {
        let day = with(text) { Lexical.date($0, ignoresZone: true) }.map(Lexical.day)
        let instant = with(text) { Lexical.date($0) }.map(Lexical.iso8601)
        #expect(with(text) { Lexical.isDay($0) } == (day == text))
        #expect(with(text) { Lexical.isInstant($0) } == (instant == text))
    }

    @Test func decimalsAreExact() {
        #expect(
            with("0.1000000000000000000000000001") { Lexical.decimal($0) }
                == Decimal(string: "0.1000000000000000000000000001"))
        #expect(with("1e5") { Lexical.decimal($0) } == nil)
        #expect(with("12abc") { Lexical.decimal($0) } == nil)
    }

    @Test(arguments: [
        ("2026-11-21", "2026-11-21T00:00:00Z"), ("2026-11-21T08:30:00Z", "2026-11-21T08:30:00Z"),
        ("2026-11-21T08:30:00+02:00", "2026-11-21T06:30:00Z"), ("2026-11-21 08:30", "2026-11-21T08:30:00Z"),
        ("2026-11-21T08:30:00.250-0500", "2026-11-21T13:30:00.250Z"), ("20261121", "2026-11-21T00:00:00Z"),
        ("20261121T083000Z", "2026-11-21T08:30:00Z"), ("2026-11", "2026-11-01T00:00:00Z"),
        ("2026", "2026-01-01T00:00:00Z"), ("2024-02-29", "2024-02-29T00:00:00Z"),
        ("1969-12-31T23:59:59Z", "1969-12-31T23:59:59Z"), ("2026-11-21T24:00:00Z", "2026-11-22T00:00:00Z"),
        ("2026-11-21Z", "2026-11-21T00:00:00Z"),
        ("Fri, 20 Nov 2026 07:00:00 GMT", "2026-11-20T07:00:00Z"), ("20 Nov 26 07:00 EST", "2026-11-20T12:00:00Z"),
        ("Sunday, 06-Nov-94 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        ("Sun Nov  6 08:49:37 1994", "1994-11-06T08:49:37Z"),
        ("Tue, 1 Jul 2003 10:52:37 +0200 (CEST)", "2003-07-01T08:52:37Z"), ("1 July 2003", "2003-07-01T00:00:00Z"),
        ("Thu, 01 Jan 1970 00:00:00 +0100", "1969-12-31T23:00:00Z"),
    ])
    func dates(text: String, expected: String) {
        #expect(with(text) { Lexical.date($0) }.map(Lexical.iso8601) == expected)
    }

    @Test(arguments: [
        "", "yesterday", "2026-13-01", "2026-02-30", "2026-11-21T25:00:00Z", "2026-11-21T", "32 Nov 2026",
        "20 Foo 2026", "2026-11-21X", "1", "12:30",
    ])
    func notDates(text: String) {
        #expect(with(text) { Lexical.date($0) } == nil)
    }

    @Test func booleansAndData() {
        #expect(with("true") { Lexical.boolean($0) } == true)
        #expect(with("No") { Lexical.boolean($0) } == false)
        #expect(with("2") { Lexical.boolean($0) } == nil)
        #expect(with("SGVs\n bG8=") { Lexical.base64($0) } == Data("Hello".utf8))
        #expect(with("?") { Lexical.base64($0) } == nil)
    }
}
