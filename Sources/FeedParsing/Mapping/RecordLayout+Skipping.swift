import FeedModel
import FeedStaging
import Foundation

/// Records that are left out because a value does not convert.
extension RecordLayout {
    /// Notes a record that is left out, with its key, as its row is not one that the feed lacks.
    ///
    /// - Parameter isEvaluated: true if the record's expressions have their results.
    func noteSkipped(_ instance: RecordInstance, isEvaluated: Bool, context: WorkerContext) throws {
        context.skipped.addInvalid(error)
        context.droppedRecords += 1
        guard let row = rows.first else { return }
        context.noteSkipped(row.writer) { key, columns in
            self.key(key, of: instance, row, columns, isEvaluated: isEvaluated)
        }
        guard numbersRecords else { return }
        try context.noteSkipped(instance.record, row.writer, inner: inner.compactMap { $0.rows.first?.writer })
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
