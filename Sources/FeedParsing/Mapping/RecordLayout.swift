import FeedDeclarations
import FeedStore
import XMLStream

/// How the records of one table are gathered and staged: one ``TableMapping``, made ready for a store.
package final class RecordLayout {
    /// Where a slot's value comes from.
    enum Source {
        case path(XMLPath)
        /// Child elements and attributes of this folded name.
        case name(String)
        /// The key of the enclosing record of another table.
        case parent(RecordLayout, slot: Int)
        case ordinal
        /// The number of a record of another table, around this one or within it.
        case relation(Int)
        /// The number of the enclosing record of another table.
        case record(RecordLayout)
        /// The same for every record of a response; nil for NULL.
        case given(String?)
    }

    /// A foreign key that a record in the document gets from a record of another table around it, or within it.
    struct Relation {
        var column: String
        var target: RecordLayout
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
        case fixed(Constant)
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
    var referrers: [RecordLayout] = []
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
        let instance = spare.popLast() ?? RecordInstance(layout: self)
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

/// What the records of one document hold in memory together: those whose elements are open, and those that wait.
final class RecordMemory {
    /// Bytes.
    static let limit = 32 << 20

    @exclusivity(unchecked) private(set) var used = 0

    /// False, and nothing taken, where there is no more.
    func take(_ bytes: Int) -> Bool {
        guard used + bytes <= Self.limit else { return false }
        used += bytes
        return true
    }

    func giveBack(_ bytes: Int) { used -= bytes }
}
