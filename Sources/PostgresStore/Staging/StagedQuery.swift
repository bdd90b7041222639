import FeedModel
import FeedStaging
import FeedStores
import Foundation
import GRDB

/// A query of `for_each` over staged and stored rows.
///
/// Tables of the schema `staged` become temporary ones of the transaction, with the columns and types of the store's.
/// PostgreSQL looks for temporary tables first; with `pg_temp` at the end of the search path a name without a schema is
/// the store's.
struct StagedQuery {
    private let sql: String
    /// The tables of the schema `staged` that the query names.
    private let staged: [StoredTable]
    /// True if the query, or a part of it, is by its words no SELECT.
    let isWriting: Bool

    init(_ query: String, catalog: Catalog) throws {
        var rewritten = RewrittenSQL(query)
        let tokens = rewritten.tokens
        let first = tokens.first { $0.text != "(" }
        let writes = zip(tokens, tokens.dropFirst()).contains { opening, word in
            opening.text == "(" && ["insert", "update", "delete", "merge"].contains(word.text.lowercased())
        }
        isWriting = writes || !["select", "with", "values", "table"].contains(first?.text.lowercased() ?? "select")
        var places: [(schema: RewrittenSQL.Token, table: RewrittenSQL.Token)] = []
        for index in tokens.indices.dropLast(2) where tokens[index + 1].text == "." {
            guard index == 0 || tokens[index - 1].text != "." else { continue }
            if ["staged", "main"].contains(tokens[index].name) { places.append((tokens[index], tokens[index + 2])) }
        }
        let tables = try catalog.tables(named: Array(Set(places.map(\.table.name))))
        var names: Set<String> = []
        var staged: [StoredTable] = []
        for place in places {
            // An alias may have these names as well, and columns.
            guard let table = tables[place.table.name] else { continue }
            let isStaged = place.schema.name == "staged"
            rewritten.replace(place.schema, by: isStaged ? "pg_temp" : table.schema.sqlIdentifier)
            rewritten.replace(place.table, by: table.relation.sqlIdentifier)
            if isStaged, names.insert(table.name).inserted { staged.append(table) }
        }
        sql = rewritten.sql
        self.staged = staged
    }

    /// - Parameter database: the scratch database, with the staged rows in views named like the store's tables.
    func rows(limit: Int, staged database: DatabaseQueue, _ connection: PostgresConnection) throws -> QueriedRows {
        try database.read { db in
            for table in staged { try copy(table, from: db, to: connection) }
        }
        if !staged.isEmpty {
            try connection.execute(
                """
                SELECT set_config('search_path', string_agg(quote_ident(s), ', ' ORDER BY n) || ', pg_temp', true)
                FROM unnest(current_schemas(false)) WITH ORDINALITY c (s, n)
                """)
        }
        try connection.execute("SET LOCAL transaction_read_only = on")
        try connection.execute("DECLARE tributary_rows NO SCROLL CURSOR FOR \(sql)")
        let result = try connection.execute("FETCH FORWARD \(max(0, limit)) FROM tributary_rows")
        let types = result.columnTypes
        let columns = result.columnNames.map { $0.lowercased() }
        let rows = try result.map { row in
            let values = try types.indices.map { try row.storedText($0, type: types[$0]) }
            return Dictionary(zip(columns, values), uniquingKeysWith: { first, _ in first })
        }
        return QueriedRows(columns: columns, rows: rows, isOfStore: try readsStore(connection))
    }

    /// Returns true if the query reads tables other than the temporary ones.
    private func readsStore(_ connection: PostgresConnection) throws -> Bool {
        let text = try connection.execute("EXPLAIN (VERBOSE, FORMAT JSON) \(sql)")[0].string(0) ?? ""
        // Within a string, the quotes would be escaped.
        return text.matches(of: /"Schema": "([^"]*)"/).contains { $0.1 != "pg_catalog" && !$0.1.hasPrefix("pg_temp") }
    }

    private func copy(_ table: StoredTable, from db: Database, to connection: PostgresConnection) throws {
        let columns = table.columns.filter { !$0.isGenerated }
        let names = columns.map(\.sql).joined(separator: ", ")
        let temporary = "pg_temp.\(table.relation.sqlIdentifier)"
        try connection.execute(
            "CREATE TEMP TABLE \(table.relation.sqlIdentifier) ON COMMIT DROP AS SELECT \(names) FROM \(table.sql) WITH NO DATA"
        )
        let rows = try Row.fetchCursor(db, sql: "SELECT \(names) FROM main.\(table.name.sqlIdentifier)")
        try connection.copyIn("COPY \(temporary) (\(names)) FROM STDIN") { send in
            try withoutActuallyEscaping(send) { send in
                let text = CopyText(send)
                while let row = try rows.next() {
                    for (column, value) in zip(columns, row.databaseValues) where !text.append(value, to: column) {
                        throw StoreError(
                            .constraint,
                            "table '\(table.name)': the value of column '\(column.name)' holds U+0000, which no text of "
                                + "PostgreSQL's can hold, in the row \(describe(row))")
                    }
                    try text.endRow()
                }
                try text.flush()
            }
        }
    }
}

extension CopyText {
    /// - Returns: false, and the row is spoiled, where a text holds U+0000.
    fileprivate func append(_ value: DatabaseValue, to column: StoredTable.Column) -> Bool {
        switch value.storage {
        case .null: appendNull()
        case .int64(let number): append(number)
        case .double(let number): append(number)
        case .string(var text): return text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
        case .blob(let data): data.withUnsafeBytes { append(hex: $0, isBytea: column.typeName == "bytea") }
        }
        return true
    }
}
