package import FeedModel
import Foundation
public import GRDB

/// What one run of one source has staged, and what its parsers see of the store.
///
/// Rows are gathered in memory. Those of a small stack stay there until they are merged; of a larger one they are written
/// to a private scratch database by that database's own queue, while the parser goes on. Nothing reaches the main store
/// before the whole stack has been parsed; then the context is finished and merged.
///
/// Not `Sendable`: used from the run's executor only. Its methods block that executor while the scratch database is
/// behind, or while a `fetch` is answered; never the cooperative pool.
public final class WorkerContext {
    /// What a run keeps in memory before it goes to the scratch database. Together with the two batches that may be under
    /// way this bounds a run's memory, whatever the size of its feeds.
    static let batchCapacity = 2 << 20

    let store: MainStore
    let scratch: ScratchDatabase
    /// The scratch database, once it has been needed.
    var database: DatabaseQueue?
    /// The memory of batches that have ended and are not in the scratch database.
    var endedBytes = 0
    let failure = FirstError()
    let inFlight = DispatchSemaphore(value: 2)
    let spareBatches = BatchPool()

    // `@exclusivity(unchecked)`, here and below: used from the run's executor only, and touched for every row.
    private var rule = MergeRule()
    private var requestIndex = 0
    private var tables: [String: TableInfo] = [:]
    @exclusivity(unchecked) var stagings: [Staging] = []
    private var stagingsByShape: [Shape: Staging] = [:]
    @exclusivity(unchecked) private var writers: [ObjectIdentifier: Writer] = [:]
    @exclusivity(unchecked) private var lastType: ObjectIdentifier?
    @exclusivity(unchecked) private var lastWriter: Writer?
    /// How records of `lastType` are written once it is known, without a reference count a row.
    @exclusivity(unchecked) private var shortcut: (encoder: Unmanaged<RowEncoder>, staging: Unmanaged<Staging>)?
    var isStoreAttached = false
    var viewsAreCurrent = false

    /// Rows inserted so far by the request under way.
    @exclusivity(unchecked) public internal(set) var insertedRows = 0
    /// Records that the run's declarations said to drop.
    package var skippedRows = 0
    private var recordCount: Int64 = 0
    /// The number of the last row of a contested staging table.
    @exclusivity(unchecked) private var contestedRow: Int64 = 0
    /// Bytes of texts and blobs that the rows of one body may hold together, however often each is copied. To be set once its
    /// request has begun.
    @exclusivity(unchecked) package var textLimit = Int.max
    @exclusivity(unchecked) private var textBytes = 0
    var tablesOfRequest: [Int: Set<String>] = [:]

    private struct Shape: Hashable {
        var rows: RowShape
        var rule: MergeRule
    }

    /// How records of one type are written while one request is under way.
    private final class Writer {
        let encoder: RowEncoder?
        @exclusivity(unchecked) var staging: Staging?
        init(_ encoder: RowEncoder?) { self.encoder = encoder }
    }

    init(store: MainStore, source: String) {
        self.store = store
        scratch = ScratchDatabase(of: source, in: store)
    }

    // MARK: - Requests

    /// From here on, rows belong to this request of the stack and are merged by this rule.
    package func beginRequest(_ index: Int, rule: MergeRule) {
        requestIndex = index
        contestedRow = max(contestedRow, Staging.firstContestedRow(ofRequest: index))
        self.rule = rule
        insertedRows = 0
        textBytes = 0
        textLimit = .max
        // What the request needs may just have been added to them.
        tables.removeAll()
        writers.removeAll()
        lastType = nil
        lastWriter = nil
        shortcut = nil
    }

    /// The tables for which a request has staged rows.
    package func tables(ofRequest index: Int) -> Set<String> { tablesOfRequest[index] ?? [] }

    // MARK: - Inserting

    /// Stages a record for the table that its type names.
    ///
    /// - Throws: ``StoreError`` where the store has no such table or column; what encoding the record throws; and, some
    ///   rows later than the row that was at fault, what the scratch database threw.
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
    /// GRDB's persistence callbacks (`willInsert` and so on) are not called: a row is not yet in the store.
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
        // A generated key without a value is one that the store is to give.
        let supplied = values.filter { !($0.value.isNull && $0.column.lowercased() == info.generatedKey?.lowercased()) }
        let shape = RowShape(
            table: info.name, columns: supplied.map(\.column), insertOnly: rule.insertOnly[info.name] ?? [])
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
        if staging.isContested {
            contestedRow += 1
            staging.batchReference._withUnsafeGuaranteedRef { $0.number(contestedRow) }
        }
        let (filled, texts) = staging.batchReference._withUnsafeGuaranteedRef { ($0.size, $0.textsOfRow) }
        textBytes += texts
        if textBytes > textLimit { throw tooLarge(staging) }
        // Rows of many tables may fill as many batches: long ones are looked at one by one.
        if filled > Self.batchCapacity - 4096 || insertedRows & 0xFF == 0 || texts > 16 << 10 { try flushIfFull() }
    }

    private func tooLarge(_ staging: Staging) -> StoreError {
        StoreError(
            .limit,
            "the rows that the body becomes hold more text than max_body, \(textLimit) bytes, allows; the last one is of "
                + "table '\(staging.table.table.name)'. Values that each row repeats count each time: raise max_body if "
                + "that is meant")
    }

    private func flushIfFull() throws {
        if stagings.reduce(endedBytes, { $0 + $1.count }) > Self.batchCapacity - (64 << 10) { try flush(isFull: true) }
    }

    func tableInfo(_ table: String) throws -> TableInfo {
        if let info = tables[table] { return info }
        let info = try store.tableInfos.known[table] ?? store.tableInfo(table)
        tables[table] = info
        return info
    }

    /// A table's columns that can be written, with their declared types.
    package func columns(of table: String) throws -> [(name: String, type: String)] {
        try tableInfo(table).columns.filter { !$0.isGenerated }.map { ($0.name, $0.declaredType) }
    }

    /// A number that no other record of the run has.
    package func nextRecord() -> Int64 {
        recordCount += 1
        return recordCount
    }

    /// Every table of the main store but Tributary's own.
    package func storeTables() throws -> [StoreTable] { try store.tables() }

    package func primaryKey(of table: String) throws -> [String] { try tableInfo(table).primaryKey }

    /// Where rows of this shape are staged, for the request under way.
    package func writer(for shape: RowShape, rule: MergeRule) throws -> RowWriter {
        RowWriter(try staging(shape, of: tableInfo(shape.table), rule: rule), context: self)
    }

    private func staging(_ rows: RowShape, of table: TableInfo, rule: MergeRule) throws -> Staging {
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
                name: "stage_\(stagings.count + 1)", table: table, columns: rows.columns, references: references,
                rule: rule)
            new.insertOnly = Set(rows.insertOnly.map { $0.lowercased() })
            new.within = rows.within
            new.numbersRecords = rows.numbersRecords
            new.isLookUp = rows.isLookUp
            try database?.writeWithoutTransaction { [sql = new.creationSQL] in try $0.execute(sql: sql) }
            staging = Staging(new)
            let rivals = stagings.filter { $0.table.mayShareKeys(with: new) }
            if !rivals.isEmpty {
                // Rows staged so far keep their numbers, which are smaller.
                try endBatches()
                for rival in rivals + [staging] { rival.isContested = true }
            }
            stagings.append(staging)
            stagingsByShape[shape] = staging
            viewsAreCurrent = false
        }
        if staging.request != requestIndex {
            try endBatches()
            staging.begin(request: requestIndex)
            tablesOfRequest[requestIndex, default: []].insert(table.name)
        }
        return staging
    }

    private func mergeShape(of table: TableInfo, _ rule: MergeRule) -> MergeRule {
        MergeRule(
            sync: rule.sync, scope: rule.scope, window: rule.window, windowMayLack: rule.windowMayLack,
            keys: rule.keys.filter { $0.key == table.name })
    }
}
