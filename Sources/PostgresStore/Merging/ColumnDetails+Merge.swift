import FeedModel
import Foundation
import FeedStores

/// A column for the merge: the type of a temporary column for its values, and how they compare.
extension ColumnDetails: StoredColumn {
    /// The type and collation, for a column of a temporary table.
    var definition: String { baseType + (collation.map { " COLLATE " + $0 } ?? "") }

    /// As ``definition``, with the domain, whose checks then name the row.
    var declaration: String { type + (collation.map { " COLLATE " + $0 } ?? "") }

    /// True if values whose staged bytes differ are different in the store.
    var bytesDecide: Bool {
        switch typeName {
        case "int2", "int4", "int8": true
        case "text": isDeterministic
        case "varchar": isDeterministic && !baseType.contains("(")
        default: false
        }
    }

    /// Returns an expression that distinguishes all values, texts byte by byte.
    func exact(_ alias: String) -> String { exact(of: "\(alias).\(sql)") }

    /// Returns an expression that distinguishes all values which an SQL expression of the column's type may have.
    func exact(of value: String) -> String {
        if comparesAsText { return value + "::text COLLATE \"C\"" }
        return collation == nil ? value : value + " COLLATE \"C\""
    }

    /// Returns the value, to be compared with one of another column. PostgreSQL compares columns of two collations only
    /// where one of these is named; the other column's decides, as it does for foreign keys.
    func value(_ alias: String, comparedWith other: any StoredColumn) -> String {
        let value = "\(alias).\(sql)"
        guard let collation = (other as? ColumnDetails)?.collation, self.collation != nil, collation != self.collation
        else { return value }
        return "\(value) COLLATE \(collation)"
    }

    func differs(_ left: String, from right: String, exactly: Bool) -> String {
        guard exactly else { return "\(exact(of: left)) IS DISTINCT FROM \(exact(of: right))" }
        return bytesDecide
            ? "\(left) IS DISTINCT FROM \(right)"
            : "\(left)::text COLLATE \"C\" IS DISTINCT FROM \(right)::text COLLATE \"C\""
    }

    func value(_ row: any SQLRow, _ index: Int) throws -> StoredValue { try StoredValue(row, index, of: self) }

    func spelling(_ row: any SQLRow, _ index: Int) -> String? { typeName == "numeric" ? row.string(index) : nil }

    /// PostgreSQL takes no number for a boolean, but it reads 0 and 1 from a text.
    func bound(_ value: StoredValue) -> SQLText.Value {
        guard category == "B", case .integer(let number) = value else { return SQLText.Value(value) }
        return .text(String(number))
    }

    /// Returns an expression for the value in the changelog's text.
    func changelogText(_ alias: String) -> String {
        let value = "\(alias).\(sql)"
        return switch typeName {
        case "bool": value + "::integer::text"
        case "bytea": "upper(encode(\(value), 'hex'))"
        default: value + "::text"
        }
    }

    /// Returns an expression for the value in a JSON array of the changelog.
    func changelogJSON(_ alias: String) -> String {
        switch typeName {
        case "int2", "int4", "int8", "float4", "float8", "numeric", "bool": changelogText(alias)
        default: "to_json(\(changelogText(alias)))::text"
        }
    }
}

extension StoredValue {
    /// A value of a column as a SQLite store would hold it, and as PostgreSQL shows it where SQLite has no such type.
    init(_ row: any SQLRow, _ index: Int, of column: ColumnDetails) throws {
        guard let text = row.string(index) else {
            self = .null
            return
        }
        self =
            switch column.typeName {
            case "int2", "int4", "int8": try row.int64(index).map { .integer($0) } ?? .null
            case "float4", "float8": try row.double(index).map { .real($0) } ?? .null
            case "bytea": try row.bytes(index).map { .blob(Data($0)) } ?? .null
            case "bool": .integer(try row.bool(index) == true ? 1 : 0)
            case "numeric": Self.number(text) ?? .text(text)
            default: .text(text)
            }
    }

    /// Returns the number that a text stands for; nil if a number would lose digits. Zeros at the end of a fraction do not
    /// count, so that 1.30 and 1.31 are both numbers.
    private static func number(_ text: String) -> StoredValue? {
        var text = Substring(text)
        if text.contains(".") {
            while text.last == "0" { text.removeLast() }
            if text.last == "." { text.removeLast() }
        }
        if let integer = Int64(text) { return .integer(integer) }
        // A double holds any 15 significant digits.
        let digits = text.drop { !("1"..."9").contains($0) }.count { $0.isNumber }
        guard let real = Double(text), digits <= 15 || "\(real)" == text else { return nil }
        return .real(real)
    }
}
