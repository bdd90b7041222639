import FeedModel
import FeedStaging
import FeedStores
import Foundation

/// The questions to a column that only PostgreSQL's types raise.
extension StoredTable.Column {
    /// True if the store makes a number if none is given.
    var makesNumbers: Bool { isInteger && (identity != nil || isSerial) }

    var isInteger: Bool { ["int2", "int4", "int8"].contains(typeName) }

    var isFloat: Bool { ["float4", "float8"].contains(typeName) }

    /// SQLite's collation that comes nearest to the type's own equality.
    var stagedCollation: String {
        switch typeName {
        case "citext": "NOCASE"
        case "bpchar": "RTRIM"
        default: "BINARY"
        }
    }

    /// True if an empty text is no value of the type. `money` would read it as zero.
    var emptyIsNull: Bool { category != "S" && typeName != "bytea" }

    /// True if PostgreSQL converts texts, so that several may stand for one value. Texts are kept as they are, and bytes
    /// compare as bytes.
    var hasSpellings: Bool { category != "S" && typeName != "bytea" }

    /// True if texts that the column holds for equal have one folded form (``ScopePlace``).
    var isFolded: Bool {
        !hasSpellings || isInteger || category == "E" || ["numeric", "double precision", "uuid"].contains(baseType)
    }

    /// How values given as text compare, once their spellings are known: equal in PostgreSQL is equal here, as far as
    /// possible. Nondeterministic collations compare byte by byte.
    var comparison: ColumnComparison {
        if isInteger || ["numeric", "bool"].contains(typeName) { return ColumnComparison(affinity: .numeric) }
        if isFloat { return ColumnComparison(affinity: .real) }
        return ColumnComparison(affinity: .text, collation: stagedCollation)
    }

    /// The type and collation, for a column of a temporary table.
    var definition: String { baseType + (collation.map { " COLLATE " + $0 } ?? "") }

    /// As ``definition``, with the domain, whose checks then name the row.
    var declaration: String { type + (collation.map { " COLLATE " + $0 } ?? "") }

    /// Returns an expression that distinguishes all values, texts byte by byte.
    func exact(_ alias: String) -> String { exact(of: "\(alias).\(sql)") }

    /// Returns an expression that distinguishes all values which an SQL expression of the column's type may have.
    func exact(of value: String) -> String {
        if comparesAsText { return value + "::text COLLATE \"C\"" }
        return collation == nil ? value : value + " COLLATE \"C\""
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
    init(_ row: any SQLRow, _ index: Int, of column: StoredTable.Column) throws {
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
    static func number(_ text: String) -> StoredValue? {
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
