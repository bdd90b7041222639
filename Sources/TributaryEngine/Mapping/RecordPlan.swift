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
        /// The number of a record of another table, around this one or within it.
        case relation(Int)
        /// The number of the enclosing record of another table.
        case record(RecordPlan)
        /// The same for every record of a response; nil for NULL.
        case given(String?)
    }

    /// A foreign key that a record in the document gets from a record of another table around it, or within it.
    struct Relation {
        var column: String
        var target: RecordPlan
        /// The slot of the column itself, and of the number of the other record.
        var slot: Int
        var recordSlot: Int
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
        /// The record's own number.
        case number
    }

    /// Rows that a record stages: the one of its own table, and those of tables that it refers to and creates.
    struct Row {
        var writer: RowWriter
        var values: [Value]
        /// The slot without whose value there is no row.
        var condition: Int?
        /// What most values are, once more, without reference counts: done for every value of every row.
        let steps: UnsafeMutableBufferPointer<Step>

        init(writer: RowWriter, values: [Value], condition: Int?) {
            self.writer = writer
            self.values = values
            self.condition = condition
            steps = .allocate(capacity: values.count)
            _ = steps.initialize(from: values.map(Step.init))
        }
    }

    struct Step {
        enum Kind { case text, integer, real, other }

        let kind: Kind
        let slot: Int

        init(_ value: Value) {
            guard case .slot(let slot, let converter) = value, !converter.isEncrypted, converter.readsPlainNumbers
            else {
                kind = .other
                self.slot = -1
                return
            }
            self.slot = slot
            switch converter.kind {
            case .text, .xml: kind = .text
            case .integer: kind = .integer
            case .real: kind = .real
            default: kind = .other
            }
        }
    }

    let mapping: TableMapping
    let index: Int
    var slots: [Slot] = [] {
        didSet {
            given = slots.enumerated().compactMap { index, slot in
                if case .given(let text?) = slot.source { (index, Array(text.utf8)) } else { nil }
            }
        }
    }
    var rows: [Row] = []
    /// Slots of which a record must have a value, in the order of their columns.
    var isKey: [Bool] = []
    /// Slots whose value may come from above the record's element, or after its end.
    var inherited: [Int] = []
    var countsPositions = false
    /// Values that every record begins with.
    private var given: [(slot: Int, bytes: [UInt8])] = []
    /// Whether records of other tables refer to this one's by number.
    var numbersRecords = false
    /// Of the mirrored schema only.
    var relations: [Relation] = []
    /// Tables whose records get their foreign key from one of this table that lies within them. Of the mirrored schema only.
    var referrers: [RecordPlan] = []
    /// Its records whose elements are open, the innermost last.
    @exclusivity(unchecked) var open: [RecordInstance] = []
    /// Makes the rows when the first record is staged: a table that the document does not speak of is left alone.
    var makeRows: (() throws -> [Row])?
    /// Which columns a value has been found for, where somebody will ask.
    var found: [Bool] = []
    var notesFound = false
    /// What may identify a row where the mapping does not say.
    var uniqueKeys: [[String]] = []
    var records = 0
    /// Of all records of the document.
    var memory = RecordMemory()
    @exclusivity(unchecked) private var spare: [RecordInstance] = []

    init(_ mapping: TableMapping, index: Int) {
        self.mapping = mapping
        self.index = index
    }

    func makeInstance(depth: Int, line: Int) -> RecordInstance {
        let instance = spare.popLast() ?? RecordInstance(plan: self)
        instance.begin(depth: depth, line: line)
        for (slot, bytes) in given { bytes.withUnsafeBufferPointer { instance.set($0, slot) } }
        return instance
    }

    /// Plans that refer to one another would keep each other for ever.
    func forgetOthers() {
        slots = []
        relations = []
        referrers = []
        open = []
    }

    deinit { for row in rows { row.steps.deallocate() } }

    /// The innermost of its open records around an element at a depth.
    func enclosing(_ depth: Int) -> RecordInstance? { open.last { $0.depth < depth } }

    /// Its open record at a depth.
    func open(at depth: Int) -> RecordInstance? {
        open.last { $0.depth <= depth }.flatMap { $0.depth == depth ? $0 : nil }
    }

    func recycle(_ instance: RecordInstance) {
        // One that has been large would keep what it took.
        let largest = spare.isEmpty ? 64 << 10 : 4 << 10
        if spare.count < 16, instance.footprint <= largest { spare.append(instance) }
    }
}

extension RecordPlan {
    /// The slot of the column with this folded name.
    func slot(named folded: String) -> Int? {
        slots.firstIndex { if case .name(let name) = $0.source { name == folded } else { false } }
    }

    /// Stages the rows of a record that is complete.
    ///
    /// - Throws: ``MappingError`` where a value does not convert, or is missing, and the mapping does not say otherwise.
    func stage(_ instance: RecordInstance, context: WorkerContext) throws {
        if let makeRows {
            guard slots.indices.contains(where: instance.has) else { return }
            if rows.isEmpty { rows = try makeRows() }
        }
        guard !instance.isTooLarge else {
            throw MappingError(
                "line \(instance.line): a record of table '\(mapping.table)' holds more than "
                    + "\(ByteSize.text(RecordInstance.limit)), or all records that are open at the same time more than "
                    + "\(ByteSize.text(RecordMemory.limit)); map smaller elements")
        }
        if notesFound { for slot in found.indices where instance.has(slot) { found[slot] = true } }
        for index in rows.indices {
            let row = rows[index]
            if let condition = row.condition, !instance.has(condition) { continue }
            row.writer.beginRow()
            do {
                guard try append(row, of: instance) else {
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
    private func append(_ row: Row, of instance: RecordInstance) throws -> Bool {
        let writer = row.writer
        for index in row.steps.indices {
            let step = row.steps[index]
            if step.kind != .other, let bytes = instance[step.slot] {
                switch step.kind {
                case .text:
                    writer.append(text: UnsafeRawBufferPointer(bytes))
                    continue
                case .integer:
                    if let number = Lexical.int(trimmed(bytes)) {
                        writer.append(Int64(number))
                        continue
                    }
                case .real:
                    if let number = Lexical.double(trimmed(bytes)), !number.isNaN {
                        writer.append(number)
                        continue
                    }
                case .other:
                    break
                }
            }
            guard try append(row.values[index], of: instance, to: writer) else { return false }
        }
        return true
    }

    private func append(_ value: Value, of instance: RecordInstance, to row: RowWriter) throws -> Bool {
        switch value {
        case .fixed(let constant):
            fixedConverter.append(constant, to: row)
        case .number:
            row.append(instance.record)
        case .fact(let text):
            if let text { fixedConverter.append(.text(text), to: row) } else { row.appendNull() }
        case .slot(let slot, let converter):
            guard var bytes = instance[slot] else {
                if let fallback = slots[slot].column.fallback {
                    append(fallback, converter, to: row)
                    return true
                }
                return try appendNothing(slot, instance, to: row, found: nil, converter)
            }
            if case .text = converter.kind {} else { bytes = trimmed(bytes) }
            if bytes.isEmpty, !converter.keepsEmpty {
                return try appendNothing(slot, instance, to: row, found: nil, converter)
            }
            if !converter.append(bytes, to: row) {
                let text = String(decoding: bytes, as: UTF8.self)
                return try appendNothing(slot, instance, to: row, found: text, converter)
            }
        }
        return true
    }

    private func append(_ fallback: TOMLScalar, _ converter: ValueConverter, to row: RowWriter) {
        if case .enumeration = converter.kind, case .integer = fallback { return converter.append(fallback, to: row) }
        let converter = fallback.isText ? converter : converter.ofConstants
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

    /// Columns that no record of the document had are left as they are in the store, and what identifies a row is seen
    /// from those that some had.
    func ignoreUnfound() throws {
        guard let row = rows.first else { return }
        let has = Set(slots.indices.filter { found[$0] }.map { slots[$0].column.name.lowercased() })
        let unfound = Set(slots.filter { $0.column.fallback == nil }.map { $0.column.name.lowercased() })
            .subtracting(has)
        let key =
            mapping.key.isEmpty ? uniqueKeys.first { $0.allSatisfy { has.contains($0.lowercased()) } } : mapping.key
        try row.writer.ignore(unfound, key: key)
    }

    private var fixedConverter: ValueConverter { Self.fixed }
    private static let fixed = ValueConverter(.text)
}
