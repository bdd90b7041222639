import FeedModel
import Foundation

/// How rows and changes are written for programs.
enum FileFormat: String, CaseIterable, Sendable {
    /// RFC 4180, in UTF-8; NULL is an empty field, a blob is in base 64.
    case csv
    /// One array of objects.
    case json
    /// An object a line (https://jsonlines.org).
    case ndjson

    /// Returns a name without the suffix of a file, and the format of the suffix; nil for a name without one.
    static func split(_ name: String) -> (name: String, format: FileFormat?) {
        guard let format = allCases.first(where: { name.hasSuffix("." + $0.rawValue) }) else { return (name, nil) }
        return (String(name.dropLast(format.rawValue.count + 1)), format)
    }

    var contentType: String {
        switch self {
        case .csv: "text/csv; charset=utf-8; header=present"
        case .json: "application/json"
        case .ndjson: "application/jsonl"
        }
    }

    /// What comes before the first row.
    func start(_ columns: [String]) -> String {
        switch self {
        case .csv: columns.map(Self.field).joined(separator: ",") + "\r\n"
        case .json: "["
        case .ndjson: ""
        }
    }

    /// What comes behind the last row.
    var end: String { self == .json ? "\n]\n" : "" }

    /// Returns a row.
    ///
    /// - Parameter isFirst: true for the first one of all.
    func row(_ columns: [String], _ values: [StoredValue], isFirst: Bool) -> String {
        self == .csv ? Self.line(values) : element(Self.object(columns, values), isFirst: isFirst)
    }

    /// Returns an object, which is JSON, as an element of the array or as a line.
    func element(_ object: String, isFirst: Bool) -> String {
        self == .json ? (isFirst ? "\n" : ",\n") + object : object + "\n"
    }

    /// Returns a line of CSV.
    static func line(_ values: [StoredValue]) -> String {
        values.map { field($0.fieldText) }.joined(separator: ",") + "\r\n"
    }

    /// Returns a row as an object whose members are in the order of the columns.
    static func object(_ columns: [String], _ values: [StoredValue]) -> String {
        "{" + zip(columns, values).map { "\(quoted($0)):\(json($1))" }.joined(separator: ",") + "}"
    }

    static func json(_ value: StoredValue) -> String {
        switch value {
        case .null: "null"
        case .integer(let number): String(number)
        case .real(let number) where number.isFinite: String(number)
        case .real(let number): number.isNaN ? "\"NaN\"" : number < 0 ? "\"-Infinity\"" : "\"Infinity\""
        case .text(let text): quoted(text)
        case .blob(let data): quoted(data.base64EncodedString())
        }
    }

    /// Returns a text as a string of JSON (RFC 8259, section 7).
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        bytes.reserveCapacity(text.utf8.count + 2)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case UInt8(ascii: "\n"): bytes += Array("\\n".utf8)
            case 0..<32: bytes += Array("\\u00\(byte < 16 ? "0" : "")\(String(byte, radix: 16))".utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func field(_ text: String) -> String {
        let special: Set<UInt8> = [UInt8(ascii: ","), UInt8(ascii: "\""), 10, 13]
        guard text.utf8.contains(where: special.contains) else { return text }
        // By bytes: a quote before a combining mark is no character of its own.
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            if byte == UInt8(ascii: "\"") { bytes.append(byte) }
            bytes.append(byte)
        }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension StoredValue {
    var fieldText: String {
        switch self {
        case .null: ""
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): text
        case .blob(let data): data.base64EncodedString()
        }
    }
}
