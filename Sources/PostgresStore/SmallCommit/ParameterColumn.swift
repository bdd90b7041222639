import FeedStaging

/// A column whose values a statement takes as a parameter: one array for all rows.
///
/// The values become what COPY makes of them in a column of the table's type, and compare as the stored ones do.
struct ParameterColumn {
    let column: StoredTable.Column
    /// The most characters of a text; nil for any number. A cast would cut a longer one, where COPY refuses it.
    let mostCharacters: Int?

    private let modifier: String?

    /// - Returns: nil for a type whose values COPY and a cast may read differently: a domain, an extension's or a user's type.
    init?(_ column: StoredTable.Column) {
        guard column.type == column.baseType, let stem = Self.types[column.typeName] else { return nil }
        var type = column.baseType
        var modifier: String?
        if let open = type.firstIndex(of: "("), let close = type.firstIndex(of: ")"), open < close {
            modifier = String(type[type.index(after: open)..<close])
            type.removeSubrange(open...close)
        }
        guard type == stem else { return nil }
        self.column = column
        self.modifier = modifier
        if ["varchar", "bpchar"].contains(column.typeName), let modifier {
            guard let most = Int(modifier) else { return nil }
            mostCharacters = most
        } else {
            mostCharacters = nil
        }
    }

    /// The names of types as `pg_type` has them and as SQL writes them.
    private static let types = [
        "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real", "float8": "double precision",
        "numeric": "numeric", "bool": "boolean", "text": "text", "varchar": "character varying", "bpchar": "character",
        "bytea": "bytea", "uuid": "uuid", "date": "date", "timestamp": "timestamp without time zone",
        "timestamptz": "timestamp with time zone", "json": "json", "jsonb": "jsonb",
    ]

    /// The type without its modifier: `character` alone would be one of one character.
    var elementType: String { "pg_catalog.\(column.typeName)" }

    /// Returns a value of ``elementType`` as the column holds it.
    func stored(_ value: String) -> String {
        let cast = modifier == nil || mostCharacters != nil ? value : "\(value)::\(column.baseType)"
        return cast + (column.collation.map { " COLLATE " + $0 } ?? "")
    }
}
