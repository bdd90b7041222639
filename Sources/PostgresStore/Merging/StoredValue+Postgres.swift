import FeedModel
import Foundation
import StoreSQL

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
