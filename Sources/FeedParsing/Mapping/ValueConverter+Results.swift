import FeedConfiguration
import FeedModel
import Foundation
import XMLStream

/// Values that SQLite has computed.
extension ValueConverter {
    /// Appends an integer. Returns false, and appends nothing, if its digits must be converted instead.
    @inline(__always)
    func append(integer: Int64, to row: some ValueSink) -> Bool {
        guard !isEncrypted else { return false }
        switch kind {
        case .integer: row.append(integer)
        case .real: row.append(Double(integer))
        default: return false
        }
        return true
    }

    /// Appends a number. Returns false if it is not of the column's type, and nil if its digits must be converted
    /// instead.
    ///
    /// - Parameter written: the number as SQLite writes it, with at most 15 digits.
    func append(real: Double, written: @autoclosure () -> UnsafeBufferPointer<UInt8>, to row: some ValueSink) -> Bool? {
        switch kind {
        case .real where !isEncrypted:
            row.append(real)
            return true
        case .integer:
            guard let integer = Int64(exactly: real) else { return false }
            if append(integer: integer, to: row) { return true }
            return append(digits: String(integer), to: row)
        case .decimal:
            guard real.isFinite else { return false }
            let written = written()
            if written.contains(UInt8(ascii: "e")) {
                guard let number = Lexical.double(written) else { return false }
                return append(digits: Lexical.plainText(number), to: row)
            }
            let isWhole = written.count > 2 && written.suffix(2).elementsEqual(".0".utf8)
            return append(isWhole ? UnsafeBufferPointer(rebasing: written.dropLast(2)) : written, to: row)
        case .boolean:
            guard real == 0 || real == 1 else { return false }
            return append(digits: real == 0 ? "0" : "1", to: row)
        default:
            return nil
        }
    }

    /// Appends bytes to a column of blobs; nil for a column of any other type.
    func append(blob: UnsafeRawBufferPointer, to row: some ValueSink) -> Bool? {
        switch kind {
        case .base64, .hexadecimal:
            guard isEncrypted else {
                row.append(blob: blob)
                return true
            }
            return append(digits: Data(blob).base64EncodedString(), to: row)
        default:
            return nil
        }
    }

    private func append(digits: String, to row: some ValueSink) -> Bool {
        var digits = digits
        return digits.withUTF8 { append($0, to: row) }
    }
}

extension ValueConverter.Kind {
    init(_ type: ValueType, format: String?) {
        self =
            switch type {
            case .text: .text
            case .integer: .integer
            case .real: .real
            case .decimal: .decimal(asNumber: false)
            case .boolean: .boolean
            case .xml: .xml
            case .date: .date(format.flatMap(DateFormat.init))
            case .datetime: .datetime(format.flatMap(DateFormat.init))
            case .blob: format == "hex" ? .hexadecimal : .base64
            }
    }

    /// The affinity of the column as which expressions see a value; nil if values may be of several kinds.
    var affinity: Affinity? {
        switch self {
        case .text, .xml, .date, .datetime: .text
        case .integer, .boolean: .integer
        case .real: .real
        case .decimal: .numeric
        case .base64, .hexadecimal, .enumeration: nil
        }
    }
}
