import GRDB

/// Stages the rows of one shape value by value, as bytes. Mappings write with it.
///
/// Between ``beginRow()`` and ``endRow()`` the values follow in the shape's order. Used from the run's executor only.
package final class RowWriter {
    let staging: Staging
    private unowned(unsafe) let context: WorkerContext
    /// The batch of the row that was begun last, without a reference count: the staging table holds it.
    @exclusivity(unchecked) private var batch: Unmanaged<RowBatch>

    /// - Parameter context: outlives the writer, as does everything that parses for it.
    init(_ staging: Staging, context: WorkerContext) {
        self.staging = staging
        self.context = context
        batch = staging.batchReference
    }

    package func beginRow() {
        batch = staging.batchReference
        batch._withUnsafeGuaranteedRef { $0.beginRow() }
    }

    package func appendNull() { batch._withUnsafeGuaranteedRef { $0.appendNull() } }
    package func append(_ value: Int64) { batch._withUnsafeGuaranteedRef { $0.append(value) } }
    package func append(_ value: Double) { batch._withUnsafeGuaranteedRef { $0.append(value) } }
    package func append(text: UnsafeRawBufferPointer) { batch._withUnsafeGuaranteedRef { $0.append(.text, text) } }
    package func append(blob: UnsafeRawBufferPointer) { batch._withUnsafeGuaranteedRef { $0.append(.blob, blob) } }

    /// - Throws: ``StoreError``: an error of the scratch database, some rows later than the row at fault.
    package func endRow() throws { try context.didAppendRow(to: staging) }

    /// Removes the row that was begun last.
    package func cancelRow() { staging.batch.cancelRow() }

    /// Names, once the document has ended, the columns that no record had: the merge leaves them as they are in the
    /// store.
    ///
    /// - Parameter key: the columns that identify a row, where that is not the table's primary key.
    package func ignore(_ columns: Set<String>, key: [String]?) throws {
        try staging.table.ignore(columns, key: key)
    }
}

extension DatabaseValue {
    /// True if the value is the floating-point value NaN.
    var isNotANumber: Bool {
        if case .double(let value) = storage { value.isNaN } else { false }
    }
}
