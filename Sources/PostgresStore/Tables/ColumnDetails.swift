import FeedModel

/// A column of a table, as PostgreSQL knows it.
struct ColumnDetails: Sendable, Equatable, Decodable {
    enum Identity: String, Sendable, Decodable {
        /// GENERATED ALWAYS AS IDENTITY: a value is written only by saying so.
        case always = "a"
        case byDefault = "d"
    }

    var name: String
    /// As SQL writes it, with its length, schema and domain: `numeric(10,2)`, `character varying(20)`.
    var type: String
    /// The type below all domains, as SQL writes it.
    var baseType: String
    /// The name of ``baseType`` without schema and length: `int4`, `citext`.
    var typeName: String
    /// The category of ``baseType`` (`pg_type.typcategory`): N for numbers, S for texts, D for dates, B for booleans.
    var category: String
    /// True also where a domain refuses NULL.
    var isNotNull: Bool
    /// The value is computed from other columns (GENERATED … AS).
    var isComputed: Bool
    var identity: Identity?
    /// True if the default is the next number of a sequence, as for `serial`.
    var isSerial: Bool
    /// The collation, as SQL names it; nil for types without one.
    var collation: String?
    /// False if the collation considers texts of different bytes equal.
    var isDeterministic: Bool
    /// True if values compare only as texts, because the type has no equality that distinguishes all values.
    var comparesAsText: Bool

    var sql: String { name.postgresIdentifier }

    /// True if no value can be written.
    var isGenerated: Bool { isComputed || identity == .always }

    /// True if the store makes a number if none is given.
    var makesNumbers: Bool { isInteger && (identity != nil || isSerial) }

    var isInteger: Bool { ["int2", "int4", "int8"].contains(typeName) }

    var isFloat: Bool { ["float4", "float8"].contains(typeName) }

    /// The type of a scratch database's column in which the values are staged.
    var stagedType: String {
        if isInteger { return "INTEGER" }
        if isFloat { return "REAL" }
        return typeName == "bytea" ? "BLOB" : "TEXT"
    }

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
}
