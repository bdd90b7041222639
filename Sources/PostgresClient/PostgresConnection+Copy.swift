import CLibPQ
import Foundation

extension PostgresConnection {
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

/// Memory for rows on their way out. It grows to the largest row that it has held.
final class CopyBuffer {
    private var bytes: UnsafeMutableRawPointer
    private var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = capacity
        bytes = .allocate(byteCount: capacity, alignment: 16)
    }

    deinit { bytes.deallocate() }

    var contents: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: bytes, count: count) }

    func removeAll() { count = 0 }

    @inline(__always) func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress else { return }
        reserve(source.count)
        memcpy(bytes + count, start, source.count)
        count += source.count
    }

    @inline(__always) private func reserve(_ size: Int) {
        if count + size > capacity { grow(size) }
    }

    private func grow(_ size: Int) {
        capacity = max(2 * capacity, count + size)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
        larger.copyMemory(from: bytes, byteCount: count)
        bytes.deallocate()
        bytes = larger
    }
}
