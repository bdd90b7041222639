import FeedStore
import XMLStream

/// How the records of one table are gathered and staged: one ``TableMapping``, made ready for a store.
final class RecordPlan {
    /// Where a slot's value comes from.
    enum Source {
        case path(XMLPath)
        /// Child elements and attributes of this folded name.
        case name(String)
        /// The key of the enclosing record of another table.
        case parent(RecordPlan, slot: Int)
        case ordinal
    }

    /// A value that a record gathers.
    struct Slot {
        var column: ColumnMapping
        var source: Source
        var isMarkup: Bool
    }

    /// A value that a row holds, in the order of the row's shape.
    enum Value {
        case slot(Int, ValueConverter)
        case fixed(TOMLScalar)
        case fact(String?)
    }

    /// Rows that a record stages: the one of its own table, and those of tables that it refers to and creates.
    struct Row {
        var writer: RowWriter
        var values: [Value]
        /// The slot without whose value there is no row.
        var condition: Int?
    }

    let mapping: TableMapping
    let index: Int
    var slots: [Slot] = []
    var rows: [Row] = []
    /// Slots of which a record must have a value, in the order of their columns.
    var isKey: [Bool] = []
    /// Slots whose value may come from above the record's element, or after its end.
    var inherited: [Int] = []
    var countsPositions = false
    /// Which columns a value has been found for.
    var found: [Bool] = []
    var records = 0
    @exclusivity(unchecked) private var spare: [RecordInstance] = []

    init(_ mapping: TableMapping, index: Int) {
        self.mapping = mapping
        self.index = index
    }

    func makeInstance(depth: Int, line: Int) -> RecordInstance {
        let instance = spare.popLast() ?? RecordInstance(plan: self)
        instance.begin(depth: depth, line: line)
        return instance
    }

    func recycle(_ instance: RecordInstance) {
        if spare.count < 16 { spare.append(instance) }
    }
}

extension RecordPlan {
    /// The slot of the column with this folded name.
    func slot(named folded: String) -> Int? {
        slots.firstIndex { if case .name(let name) = $0.source { name == folded } else { false } }
    }

    @inline(__always)
    func take(_ value: UnsafeBufferPointer<UInt8>, _ slot: Int, for instance: RecordInstance) {
        found[slot] = true
        instance.take(value, slot, slots[slot].column)
    }

    /// Stages the rows of a record that is complete.
    ///
    /// - Throws: ``MappingError`` where a value does not convert, or is missing, and the mapping does not say otherwise.
    func stage(_ instance: RecordInstance, context: WorkerContext) throws {
        for (index, row) in rows.enumerated() {
            if let condition = row.condition, !instance.has(condition) { continue }
            row.writer.beginRow()
            do {
                guard try append(row.values, of: instance, to: row.writer) else {
                    row.writer.cancelRow()
                    // The first row is the record's own: without it there are no others.
                    if index == 0 {
                        context.skippedRows += 1
                        return
                    }
                    continue
                }
            } catch {
                row.writer.cancelRow()
                throw error
            }
            try row.writer.endRow()
        }
    }

    /// - Returns: false where the row is to be skipped.
    private func append(_ values: [Value], of instance: RecordInstance, to row: RowWriter) throws -> Bool {
        for value in values {
            switch value {
            case .fixed(let constant):
                fixedConverter.append(constant, to: row)
            case .fact(let text):
                if let text { fixedConverter.append(.text(text), to: row) } else { row.appendNull() }
            case .slot(let slot, let converter):
                guard var bytes = instance[slot] else {
                    if let fallback = slots[slot].column.fallback {
                        append(fallback, converter, to: row)
                    } else if try !appendNothing(slot, instance, to: row, found: nil, converter) {
                        return false
                    }
                    continue
                }
                if case .text = converter.kind {} else { bytes = trimmed(bytes) }
                if bytes.isEmpty, !converter.keepsEmpty {
                    if try !appendNothing(slot, instance, to: row, found: nil, converter) { return false }
                } else if !converter.append(bytes, to: row) {
                    let text = String(decoding: bytes, as: UTF8.self)
                    if try !appendNothing(slot, instance, to: row, found: text, converter) { return false }
                }
            }
        }
        return true
    }

    private func append(_ fallback: TOMLScalar, _ converter: ValueConverter, to row: RowWriter) {
        if case .enumeration = converter.kind, case .integer = fallback { return converter.append(fallback, to: row) }
        var text = fallback.text
        // `check` has converted it once.
        if !text.withUTF8({ converter.append($0, to: row) }) { converter.append(fallback, to: row) }
    }

    /// NULL, or what the column says is to be done with a value that is missing or does not convert.
    private func appendNothing(
        _ slot: Int, _ instance: RecordInstance, to row: RowWriter, found: String?, _ converter: ValueConverter
    ) throws -> Bool {
        let column = slots[slot].column
        let isWanted = isKey[slot] || column.isRequired
        guard found != nil || isWanted else {
            row.appendNull()
            return true
        }
        switch column.onError {
        case .skip:
            return false
        case .null where !isWanted:
            row.appendNull()
            return true
        default:
            let path = column.writtenPath
            throw MappingError(
                table: mapping.table, column: column.name, element: mapping.writtenElement, line: instance.line,
                found: found,
                expected: found != nil
                    ? converter.expectation
                    : "the \(isKey[slot] ? "key" : "required value") is missing"
                        + (path.isEmpty ? "" : ", nothing is found at '\(path)'"))
        }
    }

    /// Columns that no record of the document had are left as they are in the store.
    func ignoreUnfound() throws {
        let unfound = slots.indices.filter { !found[$0] }.map { slots[$0].column.name.lowercased() }
        try rows[0].writer.ignore(Set(unfound), key: mapping.key.isEmpty ? nil : mapping.key)
    }

    private var fixedConverter: ValueConverter { Self.fixed }
    private static let fixed = ValueConverter(.text)
}
