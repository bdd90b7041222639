import CLibPQ

extension PostgresConnection {
    /// Writes rows by COPY, the fastest way in. If the body throws, none is written.
    ///
    /// - Parameter table: its name as SQL has it, quoted and with its schema if need be.
    /// - Parameter columns: names, unquoted, of columns of the types text, varchar, json, bigint, integer, double precision,
    ///   boolean and bytea; ``copyIn(_:_:)`` takes all types.
    /// - Returns: the number of rows.
    /// - Throws: ``PostgresError``, or what the body throws.
    @discardableResult
    package func copy(
        into table: String, columns: [String], _ body: (PostgresCopyWriter) throws -> Void
    ) throws -> Int {
        let writer = try startCopy(into: table, columns: columns)
        do {
            try body(writer)
            return try writer.finish()
        } catch {
            // The error that came first tells more.
            try? writer.fail("given up by the client")
            throw error
        }
    }

    /// As ``copy(into:columns:_:)``, for rows that do not come from one call. The connection does nothing else until the writer's
    /// `finish` or `fail`.
    package func startCopy(into table: String, columns: [String]) throws -> PostgresCopyWriter {
        let names = columns.map(\.postgresIdentifier).joined(separator: ", ")
        // Bytes of one type would often do as bytes of another, so the types are asked for.
        let types = try execute("SELECT \(names) FROM \(table) LIMIT 0").columnTypes
        let columns = try zip(columns, types).map { name, oid in
            guard let type = CopyColumn.ColumnType(oid: oid) else {
                throw PostgresError(
                    .misuse,
                    "column '\(name)' of \(table) has a type that COPY is not written for; use text, and cast it",
                    server: address)
            }
            return CopyColumn(name: name, type: type)
        }
        try send("COPY \(table) (\(names)) FROM STDIN (FORMAT binary)", [])
        try expectCopy(PGRES_COPY_IN)
        return PostgresCopyWriter(self, columns: columns)
    }

    /// Passes on what COPY … TO STDOUT sends, a row at a time, in constant memory.
    ///
    /// - Parameter sql: the whole statement.
    /// - Throws: ``PostgresError``; what the body throws, after the statement was cancelled.
    package func copyOut(_ sql: String, _ body: (UnsafeRawBufferPointer) throws -> Void) throws {
        try send(sql, [])
        try expectCopy(PGRES_COPY_OUT)
        do { while try nextCopyData(body) {} } catch {
            try? cancellation.cancel()
            try? drain()
            throw error
        }
        _ = try lastResult()
    }

    /// Sends data to COPY … FROM STDIN as they are, such as another connection's ``copyOut(_:_:)`` passes them on.
    ///
    /// - Parameter body: calls its argument with data, cut anywhere.
    /// - Returns: the number of rows.
    @discardableResult
    package func copyIn(
        _ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int {
        try send(sql, [])
        try expectCopy(PGRES_COPY_IN)
        let buffer = CopyBuffer(capacity: 256 << 10)
        do {
            try body { data in
                buffer.append(data)
                guard buffer.count >= 128 << 10 else { return }
                try putCopyData(buffer.contents)
                buffer.removeAll()
            }
            try putCopyData(buffer.contents)
        } catch {
            try? putCopyEnd(error: "given up by the client")
            try? drain()
            throw error
        }
        try putCopyEnd()
        return try lastResult().affectedRows
    }

    private func expectCopy(_ status: ExecStatusType) throws {
        guard let result = try nextResult() else { throw lostError() }
        guard PQresultStatus(result.result) != status else { return }
        let error =
            error(result) ?? PostgresError(.misuse, "the statement is no COPY of this direction", server: address)
        try endCopy(result)
        try drain()
        throw error
    }

    /// - Returns: false at the end of the data, of which the next result tells more.
    func nextCopyData(_ body: (UnsafeRawBufferPointer) throws -> Void) throws -> Bool {
        let connection = try open()
        var data: UnsafeMutablePointer<CChar>?
        while true {
            let count = PQgetCopyData(connection, &data, 1)
            if count > 0 {
                defer { PQfreemem(data) }
                try body(UnsafeRawBufferPointer(start: data, count: Int(count)))
                return true
            }
            guard count == 0 else { return false }
            _ = try wait()
            guard PQconsumeInput(connection) == 1 else { return false }
        }
    }

    /// Sends data of any length, and returns when they are on their way.
    func putCopyData(_ data: UnsafeRawBufferPointer) throws {
        let connection = try open()
        // libpq keeps a copy of what it has not sent yet, and takes less than 2 GiB.
        var rest = data[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(1 << 20))
            let start = piece.baseAddress?.assumingMemoryBound(to: CChar.self)
            switch PQputCopyData(connection, start, Int32(piece.count)) {
            case 1: rest = rest.dropFirst(piece.count)
            case 0: break
            default: throw lostError()
            }
            try flush()
        }
        // libpq does not tell of a failed send before the end of the data.
        guard try wait(until: .now) == .socket else { return }
        guard PQconsumeInput(connection) == 1 else { throw lostError() }
    }

    func putCopyEnd(error: String? = nil) throws {
        let connection = try open()
        while true {
            switch PQputCopyEnd(connection, error) {
            case 1: return
            case 0: try flush()
            default: throw lostError()
            }
        }
    }
}
