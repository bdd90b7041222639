import FeedConfiguration
import FeedModel
import FeedStaging
import Foundation
import XMLStream

/// Converts the bytes of an element or attribute into the value of a column, and appends it to the row.
///
/// A class and not a structure, because each value of a row is reached through it: a copy would retain all of its parts.
final class ValueConverter: Sendable {
    enum Kind: Sendable {
        case text, integer, real, boolean, xml
        /// A decimal as written, or as a number where the number gives the same digits again.
        case decimal(asNumber: Bool)
        case date(DateFormat?)
        case datetime(DateFormat?)
        case base64, hexadecimal
        case enumeration([String: Constant])
    }

    let kind: Kind
    private let separators: NumberSeparators?
    /// The zone of times without one; nil for UTC.
    private let zone: TimeZoneRules?
    /// True if an empty text is replaced by the column's default.
    private let replacesEmpty: Bool
    private let cipher: ColumnCipher?

    private init(
        _ kind: Kind, separators: NumberSeparators? = nil, zone: TimeZoneRules?, replacesEmpty: Bool = false,
        cipher: ColumnCipher? = nil
    ) {
        self.kind = kind
        self.separators = separators
        self.zone = zone
        self.replacesEmpty = replacesEmpty
        self.cipher = cipher
    }

    convenience init(_ type: ValueType, format: String? = nil, zone: TimeZoneRules? = nil) {
        self.init(Kind(type, format: format), zone: zone)
    }

    /// - Parameter declaredType: the type of the store's column. It determines the value's type where the mapping does
    ///   not.
    convenience init(
        _ column: ColumnMapping, declaredType: String? = nil, type: ValueType? = nil, cipher: ColumnCipher?
    ) {
        var type = column.type ?? type ?? declaredType.map(ValueType.init(declaredType:)) ?? .text
        // A column of bytes says nothing of the text that is encrypted in it.
        if cipher != nil, column.type == nil, type == .blob { type = .text }
        var kind = Kind(type, format: column.format)
        if !column.values.isEmpty {
            kind = .enumeration(Dictionary(column.values.map { ($0.text, $0.value) }) { first, _ in first })
        } else if type == .decimal, cipher == nil, let declaredType, case .blob = Affinity(declaredType: declaredType) {
            // Any other column converts a text to what it stores.
            kind = .decimal(asNumber: true)
        }
        self.init(
            kind, separators: column.separators, zone: column.timeZone, replacesEmpty: column.fallback != nil,
            cipher: cipher)
    }

    /// Returns the same converter for numbers with these separators, and of another kind if one is given.
    private func with(_ separators: NumberSeparators?, kind: Kind? = nil) -> ValueConverter {
        ValueConverter(
            kind ?? self.kind, separators: separators, zone: zone, replacesEmpty: replacesEmpty, cipher: cipher)
    }

    var isEncrypted: Bool { cipher != nil }

    /// True if numbers are written as in XML Schema.
    var readsPlainNumbers: Bool { separators == nil }

    /// True for an empty text that the column's default replaces.
    var replacesText: Bool {
        switch kind {
        case .text, .xml: replacesEmpty
        default: false
        }
    }

    /// The same converter for numbers as TOML writes them.
    var ofConstants: ValueConverter { separators == nil ? self : with(nil) }

    /// True if an empty text is a value, such as an empty string.
    var keepsEmpty: Bool {
        switch kind {
        case .text, .xml: !replacesEmpty
        case .enumeration(let values): values[""] != nil
        default: false
        }
    }

    /// The expected value, as messages describe it.
    var expectation: String {
        switch kind {
        case .text, .xml: "text"
        case .integer: "an integer from \(Int64.min) to \(Int64.max)"
        case .real: "a number, or INF or -INF"
        case .decimal: "a decimal number"
        case .boolean: "true, false, yes, no, 1 or 0"
        case .date(let format):
            format.map { "a date in the format \($0.pattern)" } ?? "a date as ISO 8601 or RFC 822 write it"
        case .datetime(let format):
            format.map { "a time in the format \($0.pattern)" } ?? "a time as ISO 8601 or RFC 822 write it"
        case .base64: "base 64"
        case .hexadecimal: "hexadecimal digits"
        case .enumeration(let values): "one of \(values.keys.sorted().joined(separator: ", "))"
        }
    }

    /// Returns the keys with which a text that does not convert would be a number, as the end of a message; empty without
    /// any.
    func advice(on text: String) -> String {
        switch kind {
        case .integer, .real, .decimal: break
        default: return ""
        }
        guard separators == nil, cipher == nil else { return "" }
        if let keys = Self.separators(in: text, as: self) { return "; set \(keys)" }
        guard case .integer = kind else { return "" }
        let decimal = with(nil, kind: .decimal(asNumber: false))
        if decimal.converts(text) { return "; set type = \"decimal\" for such numbers" }
        return Self.separators(in: text, as: decimal).map { "; set type = \"decimal\" and \($0) for such numbers" }
            ?? ""
    }

    /// Returns the separators with which a text is a number, as keys of a column; nil without any.
    private static func separators(in text: String, as converter: ValueConverter) -> String? {
        let candidates: [(decimal: String?, group: String?)] = [
            (",", nil), (nil, ","), (",", "."), (nil, " "), (",", " "), (nil, "'"), (",", "'"),
        ]
        func isNumber(_ decimal: String?, _ group: String?) -> Bool {
            NumberSeparators(decimal: decimal, group: group).map { converter.with($0).converts(text) } ?? false
        }
        guard let (decimal, group) = candidates.first(where: isNumber) else { return nil }
        let keys = [decimal.map { "decimal_separator = \"\($0)\"" }, group.map { "group_separator = \"\($0)\"" }]
        // 1,234 may be 1.234 or 1234.
        let isAmbiguous = group == nil && isNumber(nil, decimal)
        return keys.compactMap(\.self).joined(separator: " and ")
            + (isAmbiguous ? " or group_separator = \"\(decimal ?? "")\"" : "")
    }

    /// Returns true if a text converts.
    func converts(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            let bytes = trimmed(bytes)
            return (bytes.isEmpty && !keepsEmpty) || append(bytes, to: TextSink())
        }
    }

    /// Appends the value. Returns false, and appends nothing, where the bytes do not convert.
    ///
    /// - Parameter bytes: the bytes as found, with white space for a column of text, without it for any other.
    @inline(__always)
    func append(_ bytes: UnsafeBufferPointer<UInt8>, to row: some ValueSink) -> Bool {
        if let cipher { return appendEncrypted(bytes, cipher, to: row) }
        return appendPlain(bytes, to: row)
    }

    @inline(__always)
    private func appendPlain(_ bytes: UnsafeBufferPointer<UInt8>, to row: some ValueSink) -> Bool {
        guard let separators else { return appendConverted(bytes, to: row) }
        return separators.plain(bytes)?.withUnsafeBufferPointer { appendConverted($0, to: row) } ?? false
    }

    @inline(__always)
    private func appendConverted(_ bytes: UnsafeBufferPointer<UInt8>, to row: some ValueSink) -> Bool {
        switch kind {
        case .text, .xml:
            row.append(text: UnsafeRawBufferPointer(bytes))
        case .integer:
            guard let value = Lexical.int(bytes) else { return false }
            row.append(Int64(value))
        case .real:
            // SQLite would store NaN as NULL, which is another value.
            guard let value = Lexical.double(bytes), !value.isNaN else { return false }
            row.append(value)
        case .decimal(let asNumber):
            guard Lexical.isDecimal(bytes, exponent: false) else { return false }
            switch asNumber ? Lexical.exactNumber(bytes) : nil {
            case .integer(let number)?: row.append(number)
            case .real(let number)?: row.append(number)
            case nil: row.append(text: UnsafeRawBufferPointer(bytes))
            }
        case .boolean:
            guard let value = Lexical.boolean(bytes) else { return false }
            row.append(value ? 1 : 0 as Int64)
        case .date(let format):
            let date = format.map { $0.date(bytes, ignoresZone: true) } ?? Lexical.date(bytes, ignoresZone: true)
            guard let date else { return false }
            append(Lexical.day(date), to: row)
        case .datetime(let format):
            guard let time = format.map({ $0.time(bytes) }) ?? Lexical.time(bytes), let date = moment(of: time) else {
                return false
            }
            append(Lexical.iso8601(date), to: row)
        case .base64:
            guard let data = Lexical.base64(bytes) else { return false }
            data.withUnsafeBytes { row.append(blob: $0) }
        case .hexadecimal:
            guard let data = Lexical.hexadecimal(bytes) else { return false }
            data.withUnsafeBytes { row.append(blob: $0) }
        case .enumeration(let values):
            guard let value = values[String(decoding: bytes, as: UTF8.self)] else { return false }
            append(value, to: row)
        }
        return true
    }

    /// Returns the moment of a time, which is in the column's zone if it names none; nil for one that cannot be written.
    private func moment(of time: (date: Date, hasZone: Bool)) -> Date? {
        guard let zone, !time.hasZone else { return time.date }
        let seconds = time.date.timeIntervalSince1970
        let whole = seconds.rounded(.down)
        let moment = Date(timeIntervalSince1970: Double(zone.instant(ofWritten: Int(whole))) + (seconds - whole))
        return Lexical.isWritable(moment) ? moment : nil
    }

    /// Appends the value encrypted. It is encrypted as text in its canonical form, so that equal values stay equal.
    private func appendEncrypted(_ bytes: UnsafeBufferPointer<UInt8>, _ cipher: ColumnCipher, to row: some ValueSink)
        -> Bool
    {
        let text = TextSink()
        guard appendPlain(bytes, to: text) else { return false }
        cipher.seal(text.data).withUnsafeBytes { row.append(blob: $0) }
        return true
    }

    private func append(_ text: String, to row: some ValueSink) {
        var text = text
        text.withUTF8 { row.append(text: UnsafeRawBufferPointer($0)) }
    }

    func append(_ value: Constant, to row: some ValueSink) {
        switch value {
        case .text(let text): append(text, to: row)
        case .integer(let number): row.append(Int64(number))
        case .real(let number): row.append(number)
        case .boolean(let flag): row.append(flag ? 1 : 0 as Int64)
        }
    }
}

/// A receiver of the values of a row.
protocol ValueSink: AnyObject {
    /// True if NULL may stand for a key or a required value that is missing.
    var takesMissing: Bool { get }
    func appendNull()
    func append(_ value: Int64)
    func append(_ value: Double)
    func append(text: UnsafeRawBufferPointer)
    func append(blob: UnsafeRawBufferPointer)
}

extension ValueSink {
    var takesMissing: Bool { false }
}

extension RowWriter: ValueSink {}

/// A value as text, or the bytes of a blob.
private final class TextSink: ValueSink {
    var data = Data()
    func appendNull() { data = Data() }
    func append(_ value: Int64) { data = Data(String(value).utf8) }
    func append(_ value: Double) { data = Data(String(value).utf8) }
    func append(text: UnsafeRawBufferPointer) { data = Data(text) }
    func append(blob: UnsafeRawBufferPointer) { data = Data(blob) }
}
