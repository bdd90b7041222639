import FeedModel
import Merging
import StoreSQL

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

    /// Does the same for a value of the column that is elsewhere.
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
