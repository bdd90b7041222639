import FeedConfiguration
import FeedModel
import FeedStaging
import GRDBSQLite
import XMLStream

/// The derived columns and the filter of one table: computed for a record once its values are known, before it is
/// staged.
///
/// The results of the last record stay readable until ``reset()``.
final class RecordExpressions {
    /// What becomes of a result.
    enum Appending {
        case appended
        /// No value.
        case empty
        /// The text of a result that is no value of the column's type.
        case unconverted(String)
    }

    private struct Input {
        var value: RecordLayout.Value
        var step: RecordLayout.Step
        /// True for a decimal, which expressions see as a number.
        var isNumeric: Bool
    }

    /// The positions of the derived columns among the results, by their names in lower case.
    let outputs: [String: Int]
    private let compiled: CompiledExpressions
    private let pool: ExpressionPool
    private let statement: OpaquePointer
    private let inputs: [Input]
    private let context: WorkerContext
    private let sink = BindingSink()

    private var database: ExpressionDatabase { compiled.database }
    private var compiler: ExpressionCompiler { compiled.compiler }

    /// Returns nil for a table without expressions.
    ///
    /// - Parameters:
    ///   - pool: lends compiled expressions, and gets them back.
    ///   - input: returns the value that expressions see of a column, with its kind; nil for a constant.
    /// - Throws: ``MappingError`` if an expression cannot be compiled.
    init?(
        of layout: RecordLayout, context: WorkerContext, pool: ExpressionPool,
        input: (ColumnMapping) throws -> (value: RecordLayout.Value, kind: ValueConverter.Kind?)
    ) throws {
        guard layout.mapping.hasExpressions else { return nil }
        self.context = context
        self.pool = pool
        var inputs: [Input] = []
        compiled = try pool.take(layout.mapping) { columns in
            var affinities: [String: Affinity] = [:]
            inputs = try columns.map { column in
                let (value, kind) = try input(column)
                affinities[column.name.lowercased()] = kind?.affinity
                var isNumeric = false
                if case .decimal? = kind { isNumeric = true }
                return Input(value: value, step: .init(value), isNumeric: isNumeric)
            }
            return affinities
        }
        statement = compiled.statement
        self.inputs = inputs
        let names = compiled.compiler.expressions.compactMap { $0.column?.name.lowercased() }
        outputs = Dictionary(names.enumerated().map { ($1, $0) }) { first, _ in first }
    }

    deinit { pool.giveBack(compiled) }

    // MARK: - A record

    /// The result of a record's expressions.
    enum Result {
        /// They have values.
        case values
        /// The table's `where` leaves it out.
        case filtered
        /// A value that they need does not convert; skip the record.
        case unconverted
    }

    /// Computes the expressions for a record.
    ///
    /// - Throws: ``MappingError`` if an expression fails, `CancellationError` after an interruption.
    func evaluate(_ instance: RecordInstance, of layout: RecordLayout) throws -> Result {
        try context.checkInterruption()
        guard try bind(instance, of: layout, to: statement) else { return .unconverted }
        switch sqlite3_step(statement) {
        case SQLITE_ROW: return .values
        case SQLITE_DONE:
            sqlite3_reset(statement)
            return .filtered
        default:
            let message = database.message
            sqlite3_reset(statement)
            throw try failure(message, instance, layout)
        }
    }

    /// True if the record is deleted.
    var isDeleted: Bool {
        outputs[TableMapping.deletionColumn].map { sqlite3_column_double(statement, Int32($0)) != 0 } ?? false
    }

    /// Forgets the results of the last record.
    func reset() { sqlite3_reset(statement) }

    private func bind(_ instance: RecordInstance, of layout: RecordLayout, to statement: OpaquePointer) throws -> Bool {
        for index in inputs.indices {
            let parameter = Int32(index + 1)
            let step = inputs[index].step
            // The record's bytes stay where they are until the results have been read.
            if step.kind == .text, let bytes = instance[step.slot] {
                let code = bytes.withMemoryRebound(to: CChar.self) { text in
                    sqlite3_bind_text64(
                        statement, parameter, text.baseAddress, UInt64(text.count), nil, UInt8(SQLITE_UTF8))
                }
                try check(code, instance, layout)
                continue
            }
            sink.begin(statement, parameter, isNumeric: inputs[index].isNumeric)
            guard try layout.append(inputs[index].value, of: instance, to: sink) else { return false }
            try check(sink.code, instance, layout)
        }
        return true
    }

    /// A value that cannot be bound would be NULL.
    private func check(_ code: Int32, _ instance: RecordInstance, _ layout: RecordLayout) throws {
        guard code != SQLITE_OK else { return }
        throw MappingError(
            "line \(instance.line), <\(layout.mapping.writtenElement)>: an expression of table '\(layout.mapping.table)' "
                + "cannot be given its values: \(String(cString: sqlite3_errstr(code)))")
    }

    /// Returns the error for a failed expression, with the name of the column.
    private func failure(_ message: String, _ instance: RecordInstance, _ layout: RecordLayout) throws -> MappingError {
        let culprit = try (1...compiler.expressions.count).first { count in
            let part = try database.prepare(compiler.statement(compiled.affinities, first: count))
            defer { sqlite3_finalize(part) }
            guard try bind(instance, of: layout, to: part) else { return false }
            let code = sqlite3_step(part)
            return code != SQLITE_ROW && code != SQLITE_DONE
        }
        let expression = culprit.map { compiler.expressions[$0 - 1] }
        let what = expression.map { $0.column.map { "column '\($0.name)'" } ?? "'where'" } ?? "an expression"
        return MappingError(
            "line \(instance.line), <\(layout.mapping.writtenElement)>: \(what) of table '\(layout.mapping.table)': "
                + "the expression fails: \(message)")
    }

    // MARK: - Results

    func isNull(_ output: Int) -> Bool { sqlite3_column_type(statement, Int32(output)) == SQLITE_NULL }

    /// Appends a result that is not NULL, converted to the column's type as a text of the feed would be.
    @inline(__always)
    func append(_ output: Int, _ converter: ValueConverter, to row: some ValueSink) -> Appending {
        let column = Int32(output)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER:
            let number = sqlite3_column_int64(statement, column)
            if converter.append(integer: number, to: row) { return .appended }
        case SQLITE_FLOAT:
            let number = sqlite3_column_double(statement, column)
            if let isAppended = converter.append(real: number, written: bytes(column), to: row) {
                return isAppended ? .appended : .unconverted(text(column))
            }
        case SQLITE_BLOB:
            let count = Int(sqlite3_column_bytes(statement, column))
            let bytes = UnsafeRawBufferPointer(start: sqlite3_column_blob(statement, column), count: count)
            if let isAppended = converter.append(blob: bytes, to: row) {
                return isAppended ? .appended : .unconverted("a blob")
            }
            return .unconverted("a blob of \(count) bytes")
        default:
            break
        }
        return append(bytes(column), converter, to: row)
    }

    private func append(_ found: UnsafeBufferPointer<UInt8>, _ converter: ValueConverter, to row: some ValueSink)
        -> Appending
    {
        var bytes = found
        if case .text = converter.kind {} else { bytes = trimmed(bytes) }
        if bytes.isEmpty, !converter.keepsEmpty { return .empty }
        guard bytes.isPlainText, converter.append(bytes, to: row) else {
            return .unconverted(String(decoding: bytes, as: UTF8.self))
        }
        return .appended
    }

    private func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let text = sqlite3_column_text(statement, column)
        return UnsafeBufferPointer(start: text, count: Int(sqlite3_column_bytes(statement, column)))
    }

    private func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }
}

extension BindingSink: ValueSink {
    /// A filter may leave out the record. Otherwise its row reports what is missing.
    var takesMissing: Bool { true }
}

extension UnsafeBufferPointer<UInt8> {
    /// True for UTF-8 without NUL. SQLite's own functions may make other texts, which no store takes.
    fileprivate var isPlainText: Bool {
        var isASCII = true
        for byte in self {
            if byte == 0 { return false }
            if byte >= 0x80 { isASCII = false }
        }
        return isASCII || String(validating: self, as: UTF8.self) != nil
    }
}
