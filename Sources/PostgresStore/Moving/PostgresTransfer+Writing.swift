import FeedModel
import FeedStaging
import FeedStores

/// The writes of a transaction that receives another store's content.
extension PostgresTransfer: TransferWriter {
    func lock(_ tables: [StoredTable]) throws {
        try writing {
            let names = tables.map(\.sql).joined(separator: ", ")
            try connection.execute("LOCK TABLE \(names) IN SHARE ROW EXCLUSIVE MODE")
        }
    }

    func write(_ part: TransferPlan.Part, _ rows: ((TransferRow) throws -> Void) throws -> Void) throws {
        let table = part.to
        let copied = part.columns.map { CopiedColumn(name: $0.to.name, typeName: $0.to.typeName) }
        let names = copied.map(\.name.postgresIdentifier).joined(separator: ", ")
        do {
            if table.name == OwnTables.sources.table.name {
                // They were claimed once, and never ran.
                try connection.execute("DELETE FROM \(table.sql) WHERE failures IS NULL")
            }
            try connection.copyIn("COPY \(table.sql) (\(names)) FROM STDIN") { send in
                try withoutActuallyEscaping(send) { send in
                    let copy = CopyText(send)
                    try rows { row in
                        do { try row.write(copied, to: copy) } catch let error as PostgresError {
                            throw failure(error, table)
                        }
                    }
                    try copy.flush()
                }
            }
        } catch let error as PostgresError {
            throw failure(error, table)
        }
    }

    private func failure(_ error: PostgresError, _ table: StoredTable) -> any Error {
        guard error.isAboutRows else { return StoreError(commit: error, store: store.description) }
        // Of foreign keys the server says no line.
        guard let place = CopyPlace(error.context ?? "", table: table.name) else {
            return StoreError(.constraint, "table '\(table.name)': \(error.finding); nothing was moved")
        }
        return TransferProblem(
            row: place.line, column: place.column, message: error.message + (error.detail.map { "; " + $0 } ?? ""))
    }

    func write(_ requests: [RequestRow]) throws {
        try writing {
            for (source, requests) in Dictionary(grouping: requests, by: \.source).sorted(by: { $0.key < $1.key }) {
                let tables = requests.map(\.state.tables)
                let details = try store.tableDetails.reread(Set(tables.joined()), in: connection)
                let marks = try store.tableDetails.marks(of: tables, details, in: connection)
                let states = zip(requests, marks).map { request, mark in
                    var state = request.state
                    state.schema = mark
                    return state
                }
                try connection.ledger().requests.write(states, of: source)
            }
        }
    }

    func finish(_ tables: [StoredTable]) throws {
        try writing {
            try connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            for table in tables {
                for column in table.columns where column.makesNumbers { try continueNumbers(of: column, table) }
                // The first commits are planned by what is there.
                try connection.execute("ANALYZE \(table.sql)")
            }
            // Runs that were forgotten have left their numbers in the changelog.
            try connection.execute(
                """
                SELECT setval(pg_get_serial_sequence('tributary_run', 'id'), max(number)) FROM (
                    SELECT max(id) AS number FROM tributary_run UNION ALL SELECT max(run) FROM tributary_change) numbers
                HAVING max(number) >= 1
                """)
        }
    }

    private func continueNumbers(of column: StoredTable.Column, _ table: StoredTable) throws {
        try connection.execute(
            """
            SELECT setval(pg_get_serial_sequence(\(table.sql.postgresLiteral), \(column.name.postgresLiteral)),
                max(\(column.sql))) FROM \(table.sql) HAVING max(\(column.sql)) >= 1
            """)
    }

    private func writing<Value>(_ body: () throws -> Value) throws -> Value {
        do { return try body() } catch let error as PostgresError {
            throw StoreError(commit: error, store: store.description)
        }
    }
}

extension TransferRow {
    /// - Throws: ``TransferProblem``, and the errors of the connection.
    fileprivate func write(_ columns: [CopiedColumn], to copy: CopyText) throws {
        do {
            for (value, column) in zip(values, columns) {
                switch value {
                case .null: copy.appendNull()
                case .integer(let integer): try column.write(integer, to: copy)
                case .real(let real): try column.write(real, to: copy)
                case .text(let range): try withBytes(range) { try column.write(text: $0, to: copy) }
                case .blob(let range): try withBytes(range) { try column.write(blob: $0, to: copy) }
                }
            }
            try copy.endRow()
        } catch let problem as CopiedColumn.ValueProblem {
            throw TransferProblem(
                row: copy.rows + 1, column: problem.column, message: "the value " + problem.reason.description)
        }
    }
}
