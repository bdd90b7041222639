import CLibPQ
import Foundation

extension PostgresConnection {
    /// Sends data to COPY … FROM STDIN as they are.
    ///
    /// - Parameter body: calls its argument with data, cut anywhere. Each call is a message to the server, so blocks of
    ///   many rows are the fastest.
    /// - Returns: the number of rows.
    @discardableResult
    package func copyIn(
        _ sql: String, _ body: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void
    ) throws -> Int {
        try send(sql, [])
        try expectCopyIn()
        do { try body(putCopyData) } catch {
            try? putCopyEnd(error: "given up by the client")
            try? drain()
            throw error
        }
        try putCopyEnd()
        return try lastResult().affectedRows
    }

    private func expectCopyIn() throws {
        guard let result = try nextResult() else { throw lostError() }
        guard PQresultStatus(result.result) != PGRES_COPY_IN else { return }
        let error =
            error(result) ?? PostgresError(.misuse, "the statement is not COPY … FROM STDIN", server: address)
        try endCopy(result)
        try drain()
        throw error
    }

    /// Reads and drops the data of COPY … TO STDOUT. The next result says how it ended.
    func skipCopyData() throws {
        let connection = try open()
        var data: UnsafeMutablePointer<CChar>?
        while true {
            let count = PQgetCopyData(connection, &data, 1)
            if count > 0 {
                PQfreemem(data)
                continue
            }
            guard count == 0 else { return }
            _ = try wait()
            guard PQconsumeInput(connection) == 1 else { return }
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
        guard try wait(until: .now) else { return }
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
