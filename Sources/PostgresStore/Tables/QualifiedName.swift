import FeedModel
import FeedStaging

/// A declared name of the form `schema.table`.
struct QualifiedName {
    var schema: String
    var relation: String

    /// - Returns: nil if the name is not of this form.
    init?(_ name: String) {
        guard let dot = name.firstIndex(of: "."), dot != name.startIndex, name.index(after: dot) != name.endIndex else {
            return nil
        }
        schema = String(name[..<dot])
        relation = String(name[name.index(after: dot)...])
    }

    /// Returns the SQL name of a new table.
    ///
    /// - Throws: ``StoreError`` if the schema does not exist, or the search path has it.
    static func sql(ofNew definition: TableSchema, _ connection: PostgresConnection) throws -> String {
        guard let name = QualifiedName(definition.name) else { return definition.name.postgresIdentifier }
        let schemas = try connection.execute(
            """
            SELECT nspname, nspname = ANY (current_schemas(false)) FROM pg_catalog.pg_namespace
            WHERE lower(nspname) = lower($1 COLLATE "C") ORDER BY nspname
            """, [.text(name.schema)])
        let places = NameIndex(schemas.map { $0.string(0) ?? "" })
        guard let found = places[name.schema].map({ schemas[$0] }), let schema = found.string(0) else {
            throw StoreError([
                Mistake(
                    definition.place,
                    "the table '\(definition.name)' is to be made in the schema '\(name.schema)', and the database has none "
                        + "of that name",
                    help: "run CREATE SCHEMA \(name.schema.postgresIdentifier), or write the table's name without a dot"
                )
            ])
        }
        guard try found.bool(1) == false else { throw needless(definition.name, name.relation, definition.place) }
        return "\(schema.postgresIdentifier).\(name.relation.postgresIdentifier)"
    }

    /// Creates the error for a name with a schema that the search path has.
    static func needless(_ name: String, _ relation: String, _ place: KeyPlace = KeyPlace()) -> StoreError {
        StoreError([
            Mistake(
                place, "the schema of table '\(name)' is in the role's search_path, which finds it without",
                help: "write table = \"\(relation)\"")
        ])
    }
}
