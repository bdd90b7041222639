import CLibPQ

/// Parameters as libpq takes them: four arrays of C, over one buffer.
struct StatementParameters {
    private var buffer: [UInt8] = []
    private var offsets: [Int?] = []
    private var types: [Oid] = []
    private var lengths: [Int32] = []
    private var formats: [Int32] = []

    /// - Throws: ``PostgresError`` if a text holds U+0000, at which libpq would cut it in silence.
    init(_ values: [PostgresValue?]) throws {
        for (index, value) in values.enumerated() {
            let start = buffer.count
            offsets.append(value == nil ? nil : start)
            var type: UInt32 = 0
            var isBinary = false
            switch value {
            case nil: break
            case .text(var text):
                try text.withUTF8 { text in
                    guard !text.contains(0) else {
                        throw PostgresError(
                            .value, "parameter $\(index + 1) holds U+0000, which no text of PostgreSQL's can hold")
                    }
                    buffer.append(contentsOf: text)
                }
            case .integer(let integer): buffer.append(contentsOf: integer.description.utf8)
            case .double(let double): buffer.append(contentsOf: double.description.utf8)
            case .bool(let bool): buffer.append(UInt8(ascii: bool ? "t" : "f"))
            case .bytes(let bytes):
                buffer.append(contentsOf: bytes)
                type = PostgresType.bytea
                isBinary = true
            case .textArray(let array):
                array.write(to: &buffer)
                type = PostgresType.textArray
            case .array(let array): array.write(to: &buffer)
            }
            types.append(type)
            lengths.append(Int32(clamping: buffer.count - start))
            formats.append(isBinary ? 1 : 0)
            if !isBinary { buffer.append(0) }
        }
    }

    /// - Throws: ``PostgresError``, with the server's name.
    init(_ values: [PostgresValue?], server: ServerAddress) throws {
        do { try self.init(values) } catch var error as PostgresError {
            error.server = server
            throw error
        }
    }

    /// Lends the arrays to `PQsendQueryParams`.
    func send(_ sql: String, over connection: OpaquePointer) -> Bool {
        withArrays { values, lengths, formats in
            PQsendQueryParams(connection, sql, Int32(values.count), types, values, lengths, formats, 0) == 1
        }
    }

    /// Lends them to `PQsendQueryPrepared`. The server knows the types since the statement was prepared.
    func send(prepared name: String, over connection: OpaquePointer) -> Bool {
        withArrays { values, lengths, formats in
            PQsendQueryPrepared(connection, name, Int32(values.count), values, lengths, formats, 0) == 1
        }
    }

    private func withArrays(_ send: ([UnsafePointer<CChar>?], [Int32], [Int32]) -> Bool) -> Bool {
        buffer.withUnsafeBufferPointer { buffer in
            // An empty array has no address, and an empty `bytea` is a value all the same.
            let empty: StaticString = ""
            let start = UnsafeRawPointer(buffer.baseAddress) ?? UnsafeRawPointer(empty.utf8Start)
            let values = offsets.map { $0.map { (start + $0).assumingMemoryBound(to: CChar.self) } }
            return send(values, lengths, formats)
        }
    }
}
