package import Foundation

/// A value of a column of the main store.
package enum StoredValue: Sendable, CustomStringConvertible {
    case null
    case integer(Int64)
    case real(Double)
    case text(String)
    case blob(Data)

    /// As SQL compares them: an integer and a real of the same value are equal, and texts only byte by byte, whatever
    /// Unicode holds for equivalent.
    package static func == (left: StoredValue, right: StoredValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.integer(let integer), .real(let real)), (.real(let real), .integer(let integer)):
            Int64(exactly: real) == integer
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.blob(let left), .blob(let right)): left == right
        default: false
        }
    }

    package var description: String {
        switch self {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .real(let number): String(number)
        case .text(let text): String(reflecting: text).escapedForTerminal()
        case .blob(let data): "\(data.count) byte\(data.count == 1 ? "" : "s")"
        }
    }
}

extension StoredValue: Hashable {
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: break
        case .integer(let number): hasher.combine(Double(number))
        case .real(let number): hasher.combine(number)
        case .text(var text): text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        case .blob(let data): hasher.combine(data)
        }
    }
}

extension StoredValue {
    /// Returns the value, as a text with the numbers of its Unicode scalars if it looks like the other value:
    /// `e\u{301}` and `\u{E9}`.
    package func spelt(beside other: StoredValue) -> StoredValue {
        guard case .text(let text) = self, case .text(let other) = other, text == other else { return self }
        let scalars = text.unicodeScalars.map { scalar in
            scalar.isASCII ? String(scalar) : "\\u{" + String(scalar.value, radix: 16, uppercase: true) + "}"
        }
        return .text(scalars.joined())
    }
}

/// In JSON, a blob is in base 64, and infinity and NaN are the texts `Infinity`, `-Infinity` and `NaN`.
extension StoredValue: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .integer(let number): try container.encode(number)
        case .real(let number) where number.isFinite: try container.encode(number)
        case .real(let number): try container.encode(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
        case .text(let text): try container.encode(text)
        case .blob(let data): try container.encode(data.base64EncodedString())
        }
    }
}

extension StoredValue: Decodable {
    /// Decodes NULL, numbers and texts. A blob returns as its text in base 64.
    package init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Int64.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .real(number)
        } else {
            self = .text(try container.decode(String.self))
        }
    }
}
