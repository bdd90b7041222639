/// A column for the merge: what a temporary table needs to hold its values, and how they compare.
extension ColumnDetails {
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

    /// Returns an expression for the value by which different values are told apart, texts byte by byte.
    func exact(_ alias: String) -> String { exact(of: "\(alias).\(sql)") }

    /// Does the same for a value of the column that is elsewhere.
    func exact(of value: String) -> String {
        if comparesAsText { return value + "::text COLLATE \"C\"" }
        return collation == nil ? value : value + " COLLATE \"C\""
    }

    /// Returns the value, to be compared with one of another column. PostgreSQL compares columns of two collations only
    /// where one of these is named; the other column's decides, as it does for foreign keys.
    func value(_ alias: String, comparedWith other: ColumnDetails) -> String {
        let value = "\(alias).\(sql)"
        guard let collation = other.collation, self.collation != nil, collation != self.collation else { return value }
        return "\(value) COLLATE \(collation)"
    }

    /// Returns a condition that the values of two rows differ. NULL differs from every value.
    func differs(_ left: String, from right: String) -> String { "\(exact(left)) IS DISTINCT FROM \(exact(right))" }

    /// Returns a condition that the texts of two values differ, as those of `1.0` and `1.00` do.
    func isSpelt(_ left: String, otherThan right: String) -> String {
        bytesDecide
            ? "\(left) IS DISTINCT FROM \(right)"
            : "\(left)::text COLLATE \"C\" IS DISTINCT FROM \(right)::text COLLATE \"C\""
    }

    /// Returns an expression for the value in the journal's text.
    func journalText(_ alias: String) -> String {
        let value = "\(alias).\(sql)"
        return switch typeName {
        case "bool": value + "::integer::text"
        case "bytea": "upper(encode(\(value), 'hex'))"
        default: value + "::text"
        }
    }

    /// Returns an expression for the value in a JSON array of the journal.
    func journalJSON(_ alias: String) -> String {
        switch typeName {
        case "int2", "int4", "int8", "float4", "float8", "numeric", "bool": journalText(alias)
        default: "to_json(\(journalText(alias)))::text"
        }
    }
}
