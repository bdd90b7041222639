import CLibPQ
import Foundation

/// Rows on their way into a table by COPY, in its binary format: it costs a quarter less than text, at both ends together.
///
/// Values come column by column, and ``endRow()`` after the last. After an error nothing but ``fail(_:)`` is possible. The server
/// reports what it finds wrong only at the end, by the number of the row.
package final class PostgresCopyWriter {
    private let connection: PostgresConnection
    private let columns: [CopyColumn]
    private let buffer = CopyBuffer(capacity: 2 * PostgresCopyWriter.flushSize)
    private var column = 0
    private var hasEnded = false
    /// Rows that have been ended.
    package private(set) var rows = 0

    private static let flushSize = 128 << 10

    /// - Parameter connection: in the state of COPY IN.
    init(_ connection: PostgresConnection, columns: [CopyColumn]) {
        self.connection = connection
        self.columns = columns
        // The signature, no flags, no extension of the header ("COPY", "Binary Format").
        let signature: [UInt8] = [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]
        signature.withUnsafeBytes { buffer.append($0) }
        buffer.append(Int64(0))
    }

    // MARK: - Values

    package func appendNull() throws {
        _ = try nextColumn()
        buffer.append(Int32(-1))
    }

    /// - Parameter text: UTF-8, which the server checks.
    /// - Throws: ``PostgresError`` where the text holds U+0000, or the column is of another type.
    package func append(_ text: UnsafeBufferPointer<UInt8>) throws {
        let column = try nextColumn()
        guard column.type == .text else { throw mismatch(column, "text") }
        if let start = text.baseAddress, memchr(start, 0, text.count) != nil {
            throw error(column, "the text holds U+0000, which no text of PostgreSQL's can hold")
        }
        try append(UnsafeRawBufferPointer(text), to: column)
    }

    package func append(_ text: String) throws {
        var text = text
        try text.withUTF8 { try append($0) }
    }

    package func append(bytes: UnsafeRawBufferPointer) throws {
        let column = try nextColumn()
        guard column.type == .bytea else { throw mismatch(column, "bytes") }
        try append(bytes, to: column)
    }

    /// Into `text` as digits.
    package func append(_ integer: Int64) throws {
        let column = try nextColumn()
        switch column.type {
        case .bigint:
            buffer.append(Int32(8))
            buffer.append(integer)
        case .integer:
            guard let integer = Int32(exactly: integer) else {
                throw error(column, "\(integer) is too large for the type integer")
            }
            buffer.append(Int32(4))
            buffer.append(integer)
        case .doublePrecision:
            buffer.append(Int32(8))
            buffer.append(Double(integer).bitPattern)
        case .text: try append(digits: integer.description, to: column)
        case .bool, .bytea: throw mismatch(column, "an integer")
        }
    }

    /// Into `text` with as few digits as tell it from all others.
    package func append(_ double: Double) throws {
        let column = try nextColumn()
        switch column.type {
        case .doublePrecision:
            buffer.append(Int32(8))
            buffer.append(double.bitPattern)
        case .text: try append(digits: double.description, to: column)
        case .bigint, .integer, .bool, .bytea: throw mismatch(column, "a floating-point number")
        }
    }

    /// Into `text` as `true` or `false`.
    package func append(_ bool: Bool) throws {
        let column = try nextColumn()
        switch column.type {
        case .bool:
            buffer.append(Int32(1))
            buffer.append(UInt8(bool ? 1 : 0))
        case .text: try append(digits: bool.description, to: column)
        case .bigint, .integer, .doublePrecision, .bytea: throw mismatch(column, "a boolean")
        }
    }

    package func endRow() throws {
        guard column == columns.count, !hasEnded else {
            throw PostgresError(
                .misuse, "row \(rows + 1) of a COPY ends after \(column) of \(columns.count) columns",
                server: connection.address)
        }
        column = 0
        rows += 1
        if buffer.count >= Self.flushSize { try flush() }
    }

    // MARK: - End

    /// Ends the COPY. The connection is free again, also after an error.
    ///
    /// - Returns: the number of rows.
    @discardableResult
    package func finish() throws -> Int {
        guard column == 0, !hasEnded else {
            throw PostgresError(
                .misuse, hasEnded ? "the COPY has ended already" : "row \(rows + 1) of a COPY has not been ended",
                server: connection.address)
        }
        buffer.append(Int16(-1))
        try flush()
        hasEnded = true
        try connection.putCopyEnd()
        return try connection.lastResult().affectedRows
    }

    /// Gives up the COPY, so that none of its rows is there; a transaction around it has failed. Nothing happens if it has ended.
    package func fail(_ reason: String) throws {
        guard !hasEnded else { return }
        hasEnded = true
        try connection.putCopyEnd(error: reason)
        try connection.drain()
    }

    private func flush() throws {
        try connection.putCopyData(buffer.contents)
        buffer.removeAll()
    }

    // MARK: - Columns

    @inline(__always) private func nextColumn() throws -> CopyColumn {
        guard column < columns.count, !hasEnded else { throw tooMany() }
        if column == 0 { buffer.append(Int16(columns.count)) }
        defer { column += 1 }
        return columns[column]
    }

    @inline(__always) private func append(_ bytes: UnsafeRawBufferPointer, to column: CopyColumn) throws {
        guard bytes.count < 1 << 30 else {
            throw error(column, "the value has 1 GiB or more, which PostgreSQL cannot hold")
        }
        buffer.append(Int32(bytes.count))
        buffer.append(bytes)
    }

    private func append(digits: String, to column: CopyColumn) throws {
        var digits = digits
        try digits.withUTF8 { try append(UnsafeRawBufferPointer($0), to: column) }
    }

    private func mismatch(_ column: CopyColumn, _ value: String) -> PostgresError {
        error(column, "\(value) for a column of the type \(column.type)", kind: .misuse)
    }

    private func error(_ column: CopyColumn, _ message: String, kind: PostgresError.Kind = .value) -> PostgresError {
        PostgresError(kind, "row \(rows + 1), column '\(column.name)': \(message)", server: connection.address)
    }

    private func tooMany() -> PostgresError {
        PostgresError(
            .misuse,
            hasEnded
                ? "the COPY has ended already" : "row \(rows + 1) of a COPY has more than \(columns.count) columns",
            server: connection.address)
    }
}
