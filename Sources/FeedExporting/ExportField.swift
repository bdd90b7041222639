import FeedConfiguration
import FeedParsing
import Foundation
import GRDB
import XMLStream

/// A value of a row that is written as XML.
struct ExportField {
    /// Returns the SQL expression for the value of the row with an alias.
    var value: @Sendable (_ alias: String) -> String
    /// The SQL expression for the value of the row `m`.
    var sql: String { value("m") }
    /// Its position among the selected values.
    var index = -1
    var column: ColumnMapping
    var table: String
    fileprivate var cipher: ColumnCipher?

    init(
        column: ColumnMapping, table: String, encryptionKey: EncryptionKey? = nil,
        value: @escaping @Sendable (_ alias: String) -> String
    ) {
        self.value = value
        self.column = column
        self.table = table
        if column.isEncrypted, let encryptionKey {
            cipher = ColumnCipher(key: encryptionKey, table: table, column: column.name)
        }
    }

    /// Returns the value's text as a feed has it; nil without one.
    ///
    /// - Throws: ``ExportError`` for a character that XML cannot hold, or a value that cannot be decrypted.
    func text(_ row: Row) throws -> [UInt8]? {
        let value: DatabaseValue = row.databaseValues[
            row.databaseValues.index(row.databaseValues.startIndex, offsetBy: index)]
        if value.isNull {
            // Where a missing element means a default, an empty one means no value.
            return column.fallback == nil ? nil : []
        }
        let bytes = try bytes(value)
        try check(bytes)
        return bytes
    }

    private func bytes(_ value: DatabaseValue) throws -> [UInt8] {
        if let cipher {
            guard case .blob(let sealed) = value.storage, let opened = try? cipher.open(sealed) else {
                throw ExportError(
                    description:
                        "column '\(column.name)' of table '\(table)' cannot be decrypted with this encryption_key")
            }
            return format(String(decoding: opened, as: UTF8.self))
        }
        if let enumerated = enumerated(value) { return Array(enumerated.utf8) }
        switch value.storage {
        case .null: return []
        case .int64(let number):
            return Array((column.type == .boolean ? (number == 0 ? "false" : "true") : String(number)).utf8)
        case .double(let number): return format(text(number))
        case .string(let text):
            // As rows of PostgreSQL have it.
            guard column.type == .boolean, text == "0" || text == "1" else { return format(text) }
            return Array((text == "1" ? "true" : "false").utf8)
        case .blob(let data):
            if column.format == "hex" {
                return data.flatMap { [Self.digits[Int($0 >> 4)], Self.digits[Int($0 & 15)]] }
            }
            return Array(data.base64EncodedString().utf8)
        }
    }

    private static let digits = Array("0123456789abcdef".utf8)

    /// Returns a number as XML Schema writes it.
    private func text(_ number: Double) -> String {
        if column.type == .decimal, number.isFinite { return Lexical.plainText(number) }
        return Int64(exactly: number).map { String($0) } ?? XMLText.number(number)
    }

    private func enumerated(_ value: DatabaseValue) -> String? {
        column.values.first { candidate in
            switch (candidate.value, value.storage) {
            case (.text(let text), .string(let stored)): text == stored
            case (.integer(let number), .int64(let stored)): Int64(number) == stored
            case (.boolean(let flag), .int64(let stored)): (flag ? 1 : 0) == stored
            case (.boolean(let flag), .string(let stored)): (flag ? "1" : "0") == stored
            case (.real(let number), .double(let stored)): number == stored
            default: false
            }
        }?.text
    }

    /// Returns a date in the mapping's format, a number with its separators, and any other text unchanged.
    private func format(_ text: String) -> [UInt8] {
        if let separators = column.separators { return Array(separators.written(text).utf8) }
        guard let pattern = column.format, column.type == .date || column.type == .datetime,
            let format = DateFormat(pattern)
        else { return Array(text.utf8) }
        var stored = text
        guard let date = stored.withUTF8({ Lexical.date($0) }) else { return Array(text.utf8) }
        guard column.type == .datetime, !format.mayHaveZone, let zone = column.timeZone else {
            return Array(format.text(date).utf8)
        }
        let offset = zone.offset(at: Int(date.timeIntervalSince1970.rounded(.down)))
        return Array(format.text(date.addingTimeInterval(Double(offset))).utf8)
    }

    /// Throws for a character that XML 1.0 cannot hold: most control characters, U+FFFE and U+FFFF (section 2.2).
    private func check(_ bytes: [UInt8]) throws {
        guard bytes.contains(where: { $0 < 0x20 || $0 == 0xEF }),
            let character = XMLText.forbidden(in: String(decoding: bytes, as: UTF8.self))
        else { return }
        let text = column.isEncrypted ? "" : ": " + String(decoding: bytes.prefix(60), as: UTF8.self).debugDescription
        throw ExportError(
            description:
                "column '\(column.name)' of table '\(table)' holds the character \(XMLText.code(of: character)), "
                + "which XML 1.0 cannot hold\(text); set export = false on the column, or fix the row")
    }
}

/// The reason that rows cannot be written as XML.
package struct ExportError: Error, CustomStringConvertible {
    package var description: String
}
