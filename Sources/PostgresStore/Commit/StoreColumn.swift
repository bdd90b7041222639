@testable import FeedStore

/// A column of the store's table as the server describes it: what a temporary table needs to hold its values, and how
/// they compare.
struct StoreColumn: Sendable {
    var name: String
    /// The type as the column has it, perhaps a domain.
    var declaredType: String
    /// The type with its modifiers; of a domain, the type below it.
    var type: String
    /// The type's name without modifiers: `int4`, `varchar`.
    var typeName: String
    /// The collation, as SQL names it; nil for types without one.
    var collation: String?
    var isDeterministic: Bool
    var isNotNull: Bool
    /// True where the server computes the value.
    var isComputed: Bool
    /// True where a value is written only by saying so: `GENERATED ALWAYS AS IDENTITY`.
    var isAlwaysGenerated: Bool
    /// True where values compare only as texts: the type has no equality that tells all values apart.
    var comparesAsText: Bool

    var sql: String { name.sqlIdentifier }

    /// True where no value can be written.
    var isGenerated: Bool { isComputed || isAlwaysGenerated }

    /// The type and collation, for a column of a temporary table.
    var definition: String { type + (collation.map { " COLLATE " + $0 } ?? "") }

    /// As ``definition``, with the domain, whose checks then name the row.
    var declaration: String { declaredType + (collation.map { " COLLATE " + $0 } ?? "") }

    /// True if values whose staged bytes differ are different in the store.
    var bytesDecide: Bool {
        switch typeName {
        case "int2", "int4", "int8": true
        case "text": isDeterministic
        case "varchar": isDeterministic && !type.contains("(")
        default: false
        }
    }

    /// Returns an expression for the value by which different values are told apart, texts byte by byte.
    func exact(_ alias: String) -> String {
        let value = "\(alias).\(sql)"
        if comparesAsText { return value + "::text COLLATE \"C\"" }
        return collation == nil ? value : value + " COLLATE \"C\""
    }

    /// Returns a condition that the values of two rows differ. NULL differs from every value.
    func differs(_ left: String, from right: String) -> String { "\(exact(left)) IS DISTINCT FROM \(exact(right))" }

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
