package import FeedModel
import Foundation
public import GRDB

/// The staged rows of one run of one source, and the view of the store for its parsers.
///
/// Rows are gathered in memory. Those of a small stack stay there until they are merged. Those of a larger one are
/// written to a private scratch database on that database's own queue, while the parser goes on. Nothing reaches the
/// main store before the whole stack has been parsed; then the context is finished and merged.
///
/// Not `Sendable`: used from the run's executor only. Its methods block that executor while the scratch database is
/// behind, or while a `fetch` is answered. They never block the cooperative pool.
public final class WorkerContext {
    /// The bytes that a run keeps in memory before they go to the scratch database. Together with the two batches that
    /// may be in progress this bounds a run's memory, whatever the size of its feeds.
    static let batchCapacity = 2 << 20
    /// The same for a run that must not hold many rows in memory.
    private static let leastCapacity = 256 << 10

    let store: any StagingStore
    let scratch: ScratchDatabase
    /// The scratch database; nil until it is first needed.
    var database: DatabaseQueue?
    /// The bytes of ended batches that are not in the scratch database yet.
    var endedBytes = 0
    let failure = FirstError()
    let inFlight = DispatchSemaphore(value: 2)
    let spareBatches = BatchPool()
    /// The bytes that this run keeps in memory.
    @exclusivity(unchecked) private(set) var capacity = batchCapacity
    /// Returns true if the run may hold ``batchCapacity``; nil once asked.
    private var mayGrow: (() -> Bool)?

    // `@exclusivity(unchecked)`, here and below: used from the run's executor only, and accessed for every row.
    private var rule = MergeRule()
    private var requestIndex = 0
    private var tables: [String: StoredTable] = [:]
    @exclusivity(unchecked) var stagings: [Staging] = []
    private var stagingsByShape: [Shape: Staging] = [:]
    @exclusivity(unchecked) private var writers: [ObjectIdentifier: Writer] = [:]
    @exclusivity(unchecked) private var lastType: ObjectIdentifier?
    @exclusivity(unchecked) private var lastWriter: Writer?
    /// The encoder and staging of records of `lastType`, once known, without a reference count for each row.
    @exclusivity(unchecked) private var shortcut: (encoder: Unmanaged<RowEncoder>, staging: Unmanaged<Staging>)?
    var isStoreAttached = false
    var viewsAreCurrent = false
    /// The rows that count among those staged so far; nil if others may have come.
    var live: LiveRows?
    /// The names of the views that are named like the store's tables.
    var viewNames: Set<String> = []

    /// The number of rows inserted so far by the current request.
    @exclusivity(unchecked) public internal(set) var insertedRows = 0
    /// The records of the current request that the declarations said to skip.
    @exclusivity(unchecked) package var skipped = SkippedRows()
    /// The skipped records of the requests before it, by their positions. Those of a request that is sent again are
    /// forgotten.
    private var skippedBefore: [Int: SkippedRows] = [:]
    /// The number of records of the current body that were left out, by the table's `where` or because of an error.
    package var droppedRecords = 0
    /// The records that were left out because of an error, by the positions of their requests.
    var skippedRecords: [Int: [SkippedRecords]] = [:]
    /// The numbers of records that may enclose others, by the positions of their requests and the names of their
    /// tables.
    var skippedNumbers: [Int: [String: [Int64]]] = [:]
    /// The most of them for a request: 8 MiB.
    private static let mostSkippedNumbers = 1 << 20
    /// The records that were left out, as they were read.
    package let rejected: RejectedRecords
    private var recordCount: Int64 = 0
    /// The number of the request's last row in contested staging tables.
    @exclusivity(unchecked) private var contestedRow = Staging.firstContestedRow(ofRequest: 0)
    /// The last contested rows of the requests before this one, by their positions. A request that is sent again keeps
    /// its place before later ones.
    private var contestedRows: [Int: Int64] = [:]
    /// The most bytes of texts and blobs that the rows of one body may hold together, counting each copy. Set it after
    /// the start of its request.
    @exclusivity(unchecked) package var textLimit = Int.max
    @exclusivity(unchecked) private var textBytes = 0
    /// Notes the keys of rows; nil to note none.
    @exclusivity(unchecked) package var documentKeys: DocumentKeys?
    var tablesOfRequest: [Int: Set<String>] = [:]

    private struct Shape: Hashable {
        var rows: RowShape
        var rule: MergeRule
    }

    /// The encoder and staging of records of one type during one request.
    private final class Writer {
        let encoder: RowEncoder?
        @exclusivity(unchecked) var staging: Staging?
        init(_ encoder: RowEncoder?) { self.encoder = encoder }
    }

    package init(store: any StagingStore, source: String) {
        self.store = store
        scratch = ScratchDatabase(of: source, in: store)
        rejected = RejectedRecords(folder: store.workFolder)
    }

    // MARK: - Memory

    /// Limits the rows in memory to 256 KiB, unless a run with more of them is allowed 2 MiB.
    ///
    /// - Parameter mayGrow: returns true to allow it. Called once.
    package func limitMemory(unless mayGrow: @escaping () -> Bool) {
        capacity = Self.leastCapacity
        self.mayGrow = mayGrow
    }

    /// Raises the limit of the rows in memory, if it can be raised.
    func growIfAllowed() {
        guard let mayGrow = mayGrow.take() else { return }
        if mayGrow() { capacity = Self.batchCapacity }
    }

    // MARK: - Requests

    /// Starts a request of the stack. The rows that follow belong to it and are merged by this rule.
    package func beginRequest(_ index: Int, rule: MergeRule) {
        contestedRows[requestIndex] = contestedRow
        skippedBefore[requestIndex] = skipped
        requestIndex = index
        contestedRow = contestedRows[index] ?? Staging.firstContestedRow(ofRequest: index)
        skipped = skippedBefore.removeValue(forKey: index) ?? SkippedRows()
        self.rule = rule
        insertedRows = 0
        droppedRecords = 0
        textBytes = 0
        textLimit = .max
        // Tables or columns that the request needs may just have been added.
        tables.removeAll()
        live = nil
        writers.removeAll()
        lastType = nil
        lastWriter = nil
        shortcut = nil
    }

    /// Returns the skipped records of a request.
    package func skipped(of index: Int) -> SkippedRows {
        (index == requestIndex ? skipped : skippedBefore[index]) ?? SkippedRows()
    }

    /// The skipped records of all requests, in their order.
    package var allSkipped: SkippedRows {
        var all = skippedBefore
        all[requestIndex] = skipped
        return all.sorted { $0.key < $1.key }.reduce(into: SkippedRows()) { $0.add($1.value) }
    }

    /// Forgets the skipped records of a request that is sent again.
    func forgetSkipped(_ index: Int) {
        rejected.forget(index)
        if index == requestIndex { skipped = SkippedRows() } else { skippedBefore[index] = nil }
    }

    /// Returns the tables for which a request has staged rows.
    package func tables(ofRequest index: Int) -> Set<String> { tablesOfRequest[index] ?? [] }

    /// Counts a record of the current request that is left out because of an error, and keeps it as it was read.
    ///
    /// - Parameters:
    ///   - error: what is wrong with it; nil where that is no longer worked out.
    ///   - record: makes what is kept.
    /// - Throws: ``StoreError`` if it cannot be kept.
    package func reject(_ error: String?, _ record: (_ reason: String) throws -> RejectedRecord) throws {
        skipped.addInvalid(error)
        droppedRecords += 1
        guard let error else { return }
        try rejected.add(of: requestIndex) { try record(error) }
    }

    /// Notes a record that is left out because of an error.
    ///
    /// - Parameters:
    ///   - writer: stages the other records.
    ///   - key: returns the record's values for columns of the key, given the columns of the writer's rows; nil if
    ///     one is not known.
    package func noteSkipped(_ writer: RowWriter, key: (_ key: [String], _ columns: [String]) -> [StoredValue]?) {
        let table = writer.staging.table
        guard table.sync == .mirror else { return }
        var all = skippedRecords[requestIndex] ?? []
        let index =
            all.firstIndex {
                $0.table == table.table.name && $0.scope == table.scope && $0.key == table.keyColumns
            } ?? all.count
        if index == all.count {
            all.append(SkippedRecords(table: table.table.name, scope: table.scope, key: table.keyColumns))
        }
        let constants = table.constants.filter { constant in
            table.keyColumns.contains { $0.lowercased() == constant.column.name.lowercased() }
        }
        let names = constants.map { $0.column.name.lowercased() }
        let own = table.keyColumns.filter { !names.contains($0.lowercased()) }
        var values = own.isEmpty ? [] : key(own, table.columns.map(\.name))
        // Columns of the scope that the feed does not fill come in their places.
        for (position, name) in table.keyColumns.enumerated() {
            guard let found = names.firstIndex(of: name.lowercased()) else { continue }
            values?.insert(.text(constants[found].value), at: position)
        }
        all[index].add(values)
        skippedRecords[requestIndex] = all
    }

    /// Notes a record that is left out because of an error, and with it the records within it.
    ///
    /// - Parameters:
    ///   - number: the record's number.
    ///   - inner: stage the records within records of its table. Whose rows these are is not known, so that a mirror deletes
    ///     none.
    /// - Throws: ``StoreError`` if there are more than 1,048,576 such records in a request.
    package func noteSkipped(_ number: Int64, _ writer: RowWriter, inner: [RowWriter]) throws {
        let table = writer.staging.table.table.name
        guard skippedNumbers[requestIndex]?[table]?.count ?? 0 < Self.mostSkippedNumbers else {
            throw StoreError(
                .limit,
                "table '\(table)': more than \(Self.mostSkippedNumbers) records with records within them were left out "
                    + "(on_error = \"skip\"); correct the column's path or type")
        }
        skippedNumbers[requestIndex, default: [:]][table, default: []].append(number)
        for writer in inner { noteSkipped(writer) { _, _ in nil } }
    }

    // MARK: - Inserting

    /// Stages a record for the table that its type names.
    ///
    /// - Throws: ``StoreError`` if the store has no such table or column; the error of the record's encoding; and an
    ///   error of the scratch database, some rows later than the row at fault.
    public func insert<Record: FeedRecord>(_ record: Record) throws {
        if let shortcut, ObjectIdentifier(Record.self) == lastType,
            try shortcut.staging._withUnsafeGuaranteedRef({ staging in
                guard
                    try shortcut.encoder._withUnsafeGuaranteedRef({
                        try $0.encode(record, into: staging.batchReference)
                    })
                else { return false }
                try didAppendRow(to: staging)
                return true
            })
        {
            return
        }
        guard let writer = writer(for: Record.self), let encoder = writer.encoder else {
            try append(encodedColumns(of: record), to: Record.databaseTableName)
            return
        }
        if let staging = writer.staging, try encoder.encode(record, into: staging.batchReference) {
            shortcut = (.passUnretained(encoder), .passUnretained(staging))
            try didAppendRow(to: staging)
            return
        }
        let values = try encoder.collect(record)
        let staging = try append(values, to: Record.databaseTableName)
        if writer.staging == nil, staging.table.columns.elementsEqual(values, by: { $0.name == $1.column }) {
            writer.staging = staging
            encoder.expect(values.map(\.column))
        }
    }

    @inline(__always)
    private func writer<Record: FeedRecord>(for record: Record.Type) -> Writer? {
        let type = ObjectIdentifier(record)
        if type != lastType {
            lastType = type
            shortcut = nil
            if let known = writers[type] {
                lastWriter = known
            } else {
                lastWriter = Writer(RowEncoder(for: record))
                writers[type] = lastWriter
            }
        }
        return lastWriter
    }

    /// Stages a record for the table that its type names, by its own encoding into columns.
    ///
    /// GRDB's persistence callbacks (`willInsert` and so on) are not called, as a row is not yet in the store.
    public func insert(_ record: some EncodableRecord & TableRecord) throws {
        try append(encodedColumns(of: record), to: type(of: record).databaseTableName)
    }

    /// Stages a row given by its columns' values.
    public func insert(into table: String, _ values: KeyValuePairs<String, (any DatabaseValueConvertible)?>) throws {
        try append(values.map { (column: $0.key, value: $0.value?.databaseValue ?? .null) }, to: table)
    }

    @discardableResult
    private func append(_ values: [(column: String, value: DatabaseValue)], to table: String) throws -> Staging {
        if let value = values.first(where: { $0.value.isNotANumber }) {
            throw StoreError.notANumber(column: value.column)
        }
        let info = try tableInfo(table)
        // A generated key without a value is left for the store to generate.
        let supplied = values.filter { !($0.value.isNull && $0.column.lowercased() == info.generatedKey?.lowercased()) }
        let shape = RowShape(
            table: info.name, columns: supplied.map(\.column), insertOnly: rule.insertOnly(of: info.name))
        let staging = try staging(shape, of: info, rule: rule)
        staging.batch.beginRow()
        if staging.table.columns.elementsEqual(supplied, by: { $0.name.lowercased() == $1.column.lowercased() }) {
            for value in supplied { staging.batch.append(value.value) }
        } else {
            for column in staging.table.columns {
                let value = supplied.first { $0.column.lowercased() == column.name.lowercased() }
                staging.batch.append(value?.value ?? .null)
            }
        }
        try didAppendRow(to: staging)
        return staging
    }

    @inline(__always)
    func didAppendRow(to staging: Staging) throws {
        insertedRows += 1
        documentKeys?.note(staging)
        if staging.isContested {
            contestedRow += 1
            staging.batchReference._withUnsafeGuaranteedRef { $0.number(contestedRow) }
        }
        let (filled, texts) = staging.batchReference._withUnsafeGuaranteedRef { ($0.size, $0.textsOfRow) }
        textBytes += texts
        if textBytes > textLimit { throw tooLarge(staging) }
        // Rows of many tables may fill as many batches, so long rows are checked one by one.
        if filled > capacity - 4096 || insertedRows & 0xFF == 0 || texts > 16 << 10 { try flushIfFull() }
    }

    private func tooLarge(_ staging: Staging) -> StoreError {
        StoreError(
            .limit,
            "the rows of the body have more text than max_body, \(textLimit) bytes, allows; the last one is of "
                + "table '\(staging.table.table.name)'. Values that each row repeats count each time: raise max_body if "
                + "that is meant")
    }

    private func flushIfFull() throws {
        let bytes = stagings.reduce(endedBytes) { $0 + $1.count }
        if bytes > capacity - (64 << 10) { growIfAllowed() }
        if bytes > capacity - (64 << 10) { try flush(isFull: true) }
    }

    func tableInfo(_ table: String) throws -> StoredTable {
        if let info = tables[table] { return info }
        let info = try store.tableInfo(table)
        tables[table] = info
        return info
    }

    /// Returns a table's columns that can be written, with their declared types.
    package func columns(of table: String) throws -> [(name: String, type: String)] {
        try tableInfo(table).columns.filter { !$0.isGenerated }.map { ($0.name, $0.type) }
    }

    /// Starts a document: the numbers of its records differ from those of other documents.
    package func beginDocument() { recordCount = StagedRecords.first(after: recordCount) }

    /// Returns a number that no other record of the run has. A record's number is higher than those of the records
    /// around it.
    package func nextRecord() -> Int64 {
        recordCount += 1
        return recordCount
    }

    /// Returns every table of the main store except Tributary's own.
    package func storeTables() throws -> [StoredTable] { try store.tables() }

    package func primaryKey(of table: String) throws -> [String] { try tableInfo(table).primaryKey }

    /// Returns a writer that stages rows of this shape for the current request.
    package func writer(for shape: RowShape, rule: MergeRule) throws -> RowWriter {
        RowWriter(try staging(shape, of: tableInfo(shape.table), rule: rule), context: self)
    }

    private func staging(_ rows: RowShape, of table: StoredTable, rule: MergeRule) throws -> Staging {
        var key = rows
        key.columns = rows.columns.map { $0.lowercased() }.sorted()
        let shape = Shape(rows: key, rule: mergeShape(of: table, rule))
        let staging: Staging
        if let known = stagingsByShape[shape] {
            staging = known
        } else {
            let references = try rows.references.map {
                try StagedReference($0, of: table, to: tableInfo($0.table))
            }
            var new = try StagingTable(
                name: "tributary_stage_\(stagings.count + 1)", table: table, columns: rows.columns,
                references: references,
                rule: rule)
            new.insertOnly = Set(rows.insertOnly.map { $0.lowercased() })
            // The store's spelling of the name, by which the parent's rows are staged.
            new.within = try rows.within.map {
                RowShape.Within(column: $0.column, parent: try tableInfo($0.parent).name)
            }
            new.mirroredWithin = Set(try rows.mirroredWithin.map { try tableInfo($0).name })
            new.enclosing = try rows.enclosing.enumerated().map { ("tributary_around_\($0)", try tableInfo($1).name) }
            new.numbersRecords = rows.numbersRecords
            new.marksDeleted = rows.marksDeleted
            new.keeps = rows.duplicates
            if new.marksDeleted, new.keyColumns.isEmpty || new.isIdentifiedByReference {
                throw StoreError(
                    .schema,
                    "table '\(table.name)': 'deleted_when' needs a key whose values are in the feed, without 'references'"
                )
            }
            new.isLookUp = rows.isLookUp
            if database != nil { try inScratch { [sql = new.creationSQL] in try $0.execute(sql: sql) } }
            staging = Staging(new)
            let rivals = stagings.filter { $0.table.mayShareKeys(with: new) }
            // Before batches end: that may be what opens the scratch database, which then gets a table for each of these.
            stagings.append(staging)
            if !rivals.isEmpty {
                // Rows staged so far keep their numbers, which are smaller.
                try endBatches()
                for rival in rivals + [staging] { rival.isContested = true }
            }
            stagingsByShape[shape] = staging
            viewsAreCurrent = false
            live = nil
        }
        if staging.request != requestIndex {
            try endBatches()
            staging.begin(request: requestIndex)
            tablesOfRequest[requestIndex, default: []].insert(table.name)
        }
        return staging
    }

    private func mergeShape(of table: StoredTable, _ rule: MergeRule) -> MergeRule {
        MergeRule(
            sync: rule.sync, scope: rule.scope, window: rule.window, windowMayLack: rule.windowMayLack,
            keys: rule.key(of: table.name).map { [table.name: $0] } ?? [:])
    }
}
