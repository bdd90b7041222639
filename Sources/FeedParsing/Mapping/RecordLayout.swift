import FeedConfiguration
import FeedStaging
import XMLStream

/// The gathering and staging of one table's records: a ``TableMapping``, prepared for a store.
package final class RecordLayout {
    /// The source of a slot's value.
    enum Source {
        case path(XMLPath)
        /// Child elements and attributes of this folded name.
        case name(String)
        /// The key of the enclosing record of another table.
        case parent(RecordLayout, slot: Int)
        case ordinal(ColumnMapping.Count)
        /// The number of a record of another table, around this one or within it.
        case relation(Int)
        /// The number of the enclosing record of another table.
        case record(RecordLayout)
        /// The result of an expression over the record's other values.
        case expression
        /// A value that all records of a response have; nil for NULL.
        case given(String?)
    }

    /// A foreign key that a record in the document gets from a record of another table around or within it.
    struct Relation {
        var column: String
        var target: RecordLayout
        /// The slots of the column itself and of the other record's number.
        var slot: Int
        var recordSlot: Int
    }

    /// A value that a record gathers.
    struct Slot {
        var column: ColumnMapping
        var source: Source
        var isMarkup: Bool

        /// True if the value is read at a path, or at a name.
        var isRead: Bool {
            switch source {
            case .path, .name: !column.name.isEmpty
            default: false
            }
        }
    }

    /// A value that a row holds, in the order of the row's shape.
    enum Value {
        case slot(Int, ValueConverter)
        /// A result of the layout's expressions, with the slot of its column, which stays empty.
        case derived(Int, slot: Int, ValueConverter)
        case fixed(Constant)
        case fact(String?)
        /// The record's own number.
        case number
        /// Whether the record is deleted.
        case isDeleted
    }

    /// Rows that a record stages: its own, and referenced rows that it creates.
    final class Row {
        let writer: RowWriter
        let values: [Value]
        /// The slot that must have a value for the row to exist.
        let condition: Int?
        /// The kinds of most values, without reference counts: used for every value of every row.
        let steps: UnsafeMutableBufferPointer<Step>

        init(writer: RowWriter, values: [Value], condition: Int?) {
            self.writer = writer
            self.values = values
            self.condition = condition
            steps = .allocate(capacity: values.count)
            _ = steps.initialize(from: values.map(Step.init))
        }

        deinit { steps.deallocate() }
    }

    struct Step {
        enum Kind { case text, integer, real, day, instant, other }

        let kind: Kind
        let slot: Int

        init(_ value: Value) {
            guard case .slot(let slot, let converter) = value, !converter.isEncrypted, converter.readsPlainNumbers,
                !converter.replacesText
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
            case .date(nil): kind = .day
            case .datetime(nil): kind = .instant
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
    @exclusivity(unchecked) var rows: [Row] = []
    /// The derived columns and the filter; nil without one.
    @exclusivity(unchecked) var expressions: RecordExpressions?
    /// True while a record is staged that is deleted.
    @exclusivity(unchecked) var isDeleted = false
    /// True for each value of a row that a deleted record has, too: those of the key, and what leads to other records.
    var staysWhenDeleted: [Bool] = []
    /// True for each slot of the key, which every record must fill.
    private(set) var isKey: [Bool] = []
    /// Slots whose value may come from above the record's element, or after that element has ended.
    @exclusivity(unchecked) private(set) var inherited: [Int] = []
    /// The slots of the numbers of the records around a record that refers to them by their keys.
    var around: [(slot: Int, parent: RecordLayout)] = []
    /// The layouts of tables whose columns refer to this table's enclosing records.
    var children: [RecordLayout] = []
    @exclusivity(unchecked) private(set) var countsPositions = false
    /// The layouts of the tables to whose enclosing records columns refer.
    var parents: [RecordLayout] {
        slots.compactMap { slot in
            switch slot.source {
            case .parent(let layout, _), .record(let layout): layout
            default: nil
            }
        }
    }
    /// The values with which every record begins.
    @exclusivity(unchecked) private var given: [(slot: Int, bytes: [UInt8])] = []
    /// True if records of other tables refer to this table's records by number.
    @exclusivity(unchecked) var numbersRecords = false
    /// The foreign keys between records. For a mirrored schema only.
    var relations: [Relation] = []
    /// Tables whose records get their foreign key from a record of this table within them. For a mirrored schema only.
    @exclusivity(unchecked) var referrers: [RecordLayout] = []
    /// The table's records whose elements are open, the innermost last.
    @exclusivity(unchecked) var open: [RecordInstance] = []
    /// Makes the rows when the first record is staged, so that a table without records in the document is left
    /// unchanged.
    @exclusivity(unchecked) var makeRows: (() throws -> [Row])?
    /// The slots of the columns by the number of an attribute's name in the document; nil for an attribute without one.
    @exclusivity(unchecked) var slotsOfNames: [Int32: Int?] = [:]
    /// The slots that no record had a value for: soon few, or none.
    @exclusivity(unchecked) var unfound: [Int] = []
    /// The slots for which a record had values after the first, which alone counts.
    @exclusivity(unchecked) var furtherValues: Set<Int> = []
    /// The unique keys that may identify a row where the mapping gives no key.
    var uniqueKeys: [[String]] = []
    @exclusivity(unchecked) var records = 0
    /// Those of the records that are deleted, of which only the key is read.
    @exclusivity(unchecked) var deletedRecords = 0
    /// Those of the records that an expression has left out, whose values were not read.
    @exclusivity(unchecked) var unreadRecords = 0
    /// What is wrong with the record that is being skipped; nil after the first errors, which alone are kept.
    @exclusivity(unchecked) var error: String?
    /// The slot of the value that is wrong.
    @exclusivity(unchecked) var rejectedSlot: Int?
    /// True if the table's records are within those of another one.
    @exclusivity(unchecked) private(set) var isWithin = false
    @exclusivity(unchecked) var errors = 0
    /// True if all columns of some record were read.
    var hasReadRecords: Bool { records > deletedRecords + unreadRecords }
    /// The memory of all open records of the document.
    @exclusivity(unchecked) var memory = RecordMemory()
    @exclusivity(unchecked) private var spare: [RecordInstance] = []

    /// True if some record had a value for a slot.
    func isFound(_ slot: Int) -> Bool { !unfound.contains(slot) }

    init(_ mapping: TableMapping, index: Int) {
        self.mapping = mapping
        self.index = index
    }

    /// Notes what follows from the slots, once all are there.
    func complete() {
        let key = Set(mapping.key.map { $0.lowercased() })
        isWithin = !parents.isEmpty
        isKey = slots.map { key.contains($0.column.name.lowercased()) && !mapping.matchesNames }
        unfound = Array(slots.indices)
        inherited = slots.indices.filter { index in
            switch slots[index].source {
            case .path(let path): path.ups > 0 || path.isAbsolute
            case .parent, .record, .relation: true
            case .name, .ordinal, .given, .expression: false
            }
        }
        countsPositions = slots.contains { if case .ordinal = $0.source { true } else { false } }
    }

    func makeInstance(depth: Int, line: Int) -> RecordInstance {
        let instance = spare.popLast() ?? RecordInstance(layout: self)
        instance.begin(depth: depth, line: line)
        for (slot, bytes) in given { bytes.withUnsafeBufferPointer { instance.set($0, slot) } }
        return instance
    }

    /// Breaks the references between layouts, which would keep one another in memory for ever.
    func forgetOthers() {
        slots = []
        relations = []
        around = []
        children = []
        referrers = []
        open = []
    }

    /// Returns the innermost open record around an element at a depth.
    func enclosing(_ depth: Int) -> RecordInstance? { open.last { $0.depth < depth } }

    /// Returns the open record at a depth.
    func open(at depth: Int) -> RecordInstance? {
        open.last { $0.depth <= depth }.flatMap { $0.depth == depth ? $0 : nil }
    }

    func recycle(_ instance: RecordInstance) {
        // A large instance would keep its memory.
        let largest = spare.isEmpty ? 64 << 10 : 4 << 10
        if spare.count < 16, instance.footprint <= largest { spare.append(instance) }
    }
}

/// The memory of the open records of one document.
final class RecordMemory {
    /// The most bytes in use.
    static let limit = 32 << 20

    @exclusivity(unchecked) private(set) var used = 0

    /// Takes memory. Returns false, and takes none, where the limit would be exceeded.
    func take(_ bytes: Int) -> Bool {
        guard used + bytes <= Self.limit else { return false }
        used += bytes
        return true
    }

    /// Counts memory that is in use already.
    func hold(_ bytes: Int) { used += bytes }

    func giveBack(_ bytes: Int) { used -= bytes }
}
