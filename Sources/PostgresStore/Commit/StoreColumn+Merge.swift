@testable import FeedStore

extension StoreColumn {
    /// The type and collation, for a column of a temporary table.
    var definition: String { type + (collation.map { " COLLATE " + $0 } ?? "") }

    /// True if values whose staged bytes differ are different in the store.
    var bytesDecide: Bool {
        switch typeName {
        case "int2", "int4", "int8": true
        case "text": isDeterministic
        // Blanks beyond the length are cut off.
        case "varchar": isDeterministic && !type.contains("(")
        default: false
        }
    }

    /// Returns an expression for the value by which different values are told apart, texts byte by byte.
    func exact(_ alias: String) -> String { compared("\(alias).\(sql)") }

    /// Returns a condition that the values of two rows differ. NULL differs from every value.
    func differs(_ left: String, from right: String) -> String { differs("\(left).\(sql)", "\(right).\(sql)") }

    /// Returns an expression for the value in the journal's text.
    func journalText(_ alias: String) -> String {
        switch typeName {
        case "bool": "\(alias).\(sql)::integer::text"
        case "bytea": "upper(encode(\(alias).\(sql), 'hex'))"
        default: "\(alias).\(sql)::text"
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
