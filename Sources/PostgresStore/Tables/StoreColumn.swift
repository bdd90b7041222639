import PostgresClient

/// A column of a table, as PostgreSQL knows it.
struct StoreColumn: Sendable, Equatable {
    enum Identity: String, Sendable {
        /// GENERATED ALWAYS AS IDENTITY: a value that is given is refused.
        case always = "a"
        case byDefault = "d"
    }

    /// How two values of the column are found to differ.
    enum Equality: Sendable {
        /// By the type's own operator.
        case own
        /// By the bytes of the text, in the collation "C".
        case bytes
        /// By the bytes of the value's text form: the type has no equality, or one that lets texts differ (citext).
        case textForm
    }

    var name: String
    /// The position in `pg_attribute`, from 1.
    var number: Int
    /// As SQL writes it, with its length, schema and domain: `numeric(10,2)`, `character varying(20)`.
    var type: String
    /// The type's object id; that of the base type for a domain.
    var typeID: UInt32
    /// The base type's name without its schema: `int4`, `citext`.
    var typeName: String
    /// The base type's category (`pg_type.typcategory`): N for numbers, S for texts, D for dates, B for booleans.
    var category: Character
    var isNotNull: Bool
    /// The value is computed from other columns (GENERATED … STORED).
    var isComputed: Bool
    var identity: Identity?
    /// The expression of the default, and of a computed column.
    var expression: String?
    /// True where the default takes the next number of a sequence, as `serial` does.
    var isSerial: Bool
    /// True where the type has a default operator class for hash indexes, so that hash joins and GROUP BY can use it.
    var isHashable: Bool
    /// True where the type has a default operator class for B-trees: `=`, `<`, ORDER BY and DISTINCT work.
    var isSortable: Bool
    /// The column's collation as SQL names it; nil for types without one.
    var collation: String?
    /// False where the collation holds texts of different bytes for equal.
    var isDeterministic: Bool

    var sql: String { name.postgresIdentifier }

    /// True where no value can be written.
    var isGenerated: Bool { isComputed || identity == .always }

    /// The store makes a number where none is given.
    var makesNumbers: Bool { isInteger && (identity != nil || isSerial) }

    var isInteger: Bool { ["int2", "int4", "int8"].contains(typeName) }

    /// True for text, varchar and char, whose bytes a collation can compare.
    var isText: Bool { ["text", "varchar", "bpchar", "name"].contains(typeName) }

    /// True where equal values have equal bytes as the scratch database keeps them, so that sorting by bytes puts equal
    /// keys together.
    var hasExactEquality: Bool {
        switch typeName {
        case "text", "varchar", "name": isDeterministic
        case "bytea", "uuid", "date", "bool": true
        default: isInteger
        }
    }

    var equality: Equality {
        if isText { return .bytes }
        // A type of texts other than PostgreSQL's own, and a row type whose parts may have no equality.
        if category == "S" || category == "C" || !isSortable { return .textForm }
        return .own
    }

    /// Returns a condition that two values of the column differ; two NULLs do not.
    func differs(_ left: String, _ right: String) -> String {
        "\(compared(left)) IS DISTINCT FROM \(compared(right))"
    }

    /// Returns an expression whose values are equal by `=`, and can be grouped, where the column's are the same.
    func compared(_ value: String) -> String {
        switch equality {
        case .own: value
        case .bytes: "\(value) COLLATE \"C\""
        case .textForm: "(\(value))::text COLLATE \"C\""
        }
    }

    /// The type of a scratch database's column in which the values are staged.
    var stagedType: String {
        switch typeName {
        case "int2", "int4", "int8": "INTEGER"
        case "float4", "float8": "REAL"
        case "bytea": "BLOB"
        default: "TEXT"
        }
    }

    /// SQLite's collation that comes nearest to the type's own equality.
    var stagedCollation: String {
        switch typeName {
        case "citext": "NOCASE"
        case "bpchar": "RTRIM"
        default: "BINARY"
        }
    }
}
