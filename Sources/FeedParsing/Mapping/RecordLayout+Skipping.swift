import FeedConfiguration
import FeedModel
import FeedStaging
import Foundation

/// Records that are left out because a value does not convert.
extension RecordLayout {
    /// Notes a record that is left out, with its key, as its row is not one that the feed lacks.
    ///
    /// - Parameter isEvaluated: true if the record's expressions have their results.
    func noteSkipped(_ instance: RecordInstance, isEvaluated: Bool, context: WorkerContext) throws {
        if !isWithin { context.skipped.lacksOutermost = true }
        try context.reject(error) { try rejected(instance, $0, context.rejected) }
        guard let row = rows.first else { return }
        context.noteSkipped(row.writer) { key, columns in
            self.key(key, of: instance, row, columns, isEvaluated: isEvaluated)
        }
        guard numbersRecords else { return }
        try context.noteSkipped(instance.record, row.writer, inner: inner.compactMap { $0.rows.first?.writer })
    }

    /// Returns a record as it was read. What would be encrypted is not in it.
    private func rejected(
        _ instance: RecordInstance, _ reason: String, _ records: RejectedRecords
    ) throws -> RejectedRecord {
        func text(_ slot: Int) -> String? {
            slots[slot].column.isEncrypted
                ? nil : instance[slot].map { records.shown(String(decoding: $0, as: UTF8.self)) }
        }
        let read = slots.indices.filter { slots[$0].isRead }
        let fields = read.compactMap { slot in text(slot).map { (slots[slot].column.name, $0) } }
        let key = slots.indices.filter { isKey[$0] }.map(text)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let failed = rejectedSlot.map { slots[$0].column }
        return RejectedRecord(
            table: mapping.table,
            key: try key.count > 1 ? String(decoding: encoder.encode(key), as: UTF8.self) : key.first.flatMap(\.self),
            column: failed?.name,
            reason: failed?.isEncrypted == true ? "line \(instance.line): the value does not convert" : reason,
            record: String(decoding: try encoder.encode(Dictionary(fields) { $1 }), as: UTF8.self))
    }

    /// The layouts of the records within this table's records, at any depth.
    private var inner: [RecordLayout] {
        var found: [RecordLayout] = []
        var open = children
        while let layout = open.popLast() {
            guard !found.contains(where: { $0 === layout }) else { continue }
            found.append(layout)
            open += layout.children
        }
        return found
    }

    /// Returns a record's values for the columns of the key; nil if one of them is not known.
    ///
    /// - Parameter columns: the columns of the row's values.
    private func key(
        _ key: [String], of instance: RecordInstance, _ row: Row, _ columns: [String], isEvaluated: Bool
    ) -> [StoredValue]? {
        let sink = KeySink()
        for name in key {
            guard let index = columns.firstIndex(where: { $0.lowercased() == name.lowercased() }),
                index < row.values.count
            else { return nil }
            if case .derived = row.values[index], !isEvaluated { return nil }
            // What is wrong with the key makes it unknown.
            guard (try? append(row.values[index], of: instance, to: sink)) == true else { return nil }
        }
        return sink.values.count == key.count ? sink.values : nil
    }
}

/// Takes the values of a key.
private final class KeySink: ValueSink {
    var values: [StoredValue] = []

    func appendNull() { values.append(.null) }
    func append(_ value: Int64) { values.append(.integer(value)) }
    func append(_ value: Double) { values.append(.real(value)) }
    func append(text: UnsafeRawBufferPointer) { values.append(.text(String(decoding: text, as: UTF8.self))) }
    func append(blob: UnsafeRawBufferPointer) { values.append(.blob(Data(blob))) }
}
