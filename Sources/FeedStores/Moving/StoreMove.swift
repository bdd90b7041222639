package import FeedModel
import FeedStaging

/// The way of a store's content into another store: the rows of the sources, and all that Tributary remembers of them.
///
/// Blocks its thread. Nothing is fetched, and nothing of the old store is changed.
package struct StoreMove {
    let old: any StoreMoves
    let new: any StoreMoves
    /// The tables that sources are declared to write. The tables that they have written are added.
    let tables: Set<String>
    /// The columns that move of Tributary's own tables, by table. The states of requests move by themselves, as they
    /// speak of the tables that they stand for.
    let own: [String: [String]]
    let stop: Stop

    package init(
        from old: any StoreMoves, to new: any StoreMoves, tables: Set<String>, own: [String: [String]],
        stop: Stop
    ) {
        self.old = old
        self.new = new
        self.tables = tables
        self.own = own
        self.stop = stop
    }

    /// Copies everything, compares the numbers of rows, and commits it all at once.
    ///
    /// - Parameter claims: those of the old store's sources, which must hold until the end.
    /// - Throws: ``StoreError`` saying what prevents the move, `CancellationError`; the new store is then unchanged.
    package func run(holding claims: [any SourceClaim]) throws -> StoreMoveReport {
        var report = StoreMoveReport()
        try old.snapshot { reader in
            try new.receive { writer in
                report = try move(reader, writer)
                for claim in claims { try claim.check() }
                try stop.check()
            }
        }
        return report
    }

    private func move(_ reader: any TransferReader, _ writer: any TransferWriter) throws -> StoreMoveReport {
        // The files of kept bodies stay beside the old store.
        let requests = try reader.requests().map { request in
            var request = request
            request.state.bodies = []
            return request
        }
        let plan = try plan(for: requests, reader, writer)
        var report = StoreMoveReport()
        var counts: [Int] = []
        for part in plan.parts {
            let count = try copy(part, reader, writer)
            counts.append(count)
            switch part.from.name {
            case OwnTables.sources.table.name: report.sources = count
            case OwnTables.runs.table.name: report.runs = count
            case OwnTables.changes.table.name: report.changes = count
            default: if own[part.from.name] == nil { report.tables.append((part.to.name, count)) }
            }
        }
        try writer.write(requests)
        report.requests = requests.count
        try writer.finish(plan.parts.map(\.to))
        // Once triggers can change nothing any more.
        for (part, count) in zip(plan.parts, counts) {
            let written = try writer.count(part.to)
            guard written == count else {
                throw differs("table '\(part.to.name)' has \(written) rows, and \(count) were read")
            }
        }
        guard try Self.comparable(writer.requests()) == Self.comparable(requests) else {
            throw differs("the validators of requests, in tributary_request, are not those that were read")
        }
        report.tables.sort { $0.name < $1.name }
        return report
    }

    /// Decides what goes where.
    ///
    /// - Throws: ``StoreError`` if the new store is not empty, or cannot take everything.
    private func plan(
        for requests: [RequestRow], _ reader: any TransferReader, _ writer: any TransferWriter
    ) throws -> TransferPlan {
        let names = requests.reduce(into: tables) { $0.formUnion($1.state.tables) }
        let known = try reader.tables(named: names.union(own.keys))
        // Names that differ by case only are names of one table.
        var from = Dictionary(known.values.map { ($0.name, $0) }) { first, _ in first }
        for (name, columns) in own {
            guard let table = from[name] else { continue }
            from[name]?.columns = columns.compactMap(table.column)
        }
        let requestTable = OwnTables.requests.table.name
        let to = try writer.tables(named: Set(from.keys).union([requestTable]))
        let plan = try TransferPlan(Array(from.values), to: to.filter { $0.key != requestTable })
        let targets = Array(to.values).sorted { $0.name < $1.name }
        try writer.lock(targets)
        let filled = try targets.filter { try writer.count($0) > 0 }.map { "'\($0.name)'" }
        guard filled.isEmpty else {
            throw StoreError(
                .conflict,
                "the store \(new.name) is not empty: there are rows in \(filled.joined(separator: ", ")); move to a new store, "
                    + "or empty these tables")
        }
        return plan
    }

    /// - Returns: the number of rows that were read.
    private func copy(
        _ part: TransferPlan.Part, _ reader: any TransferReader, _ writer: any TransferWriter
    ) throws -> Int {
        var count = 0
        // A server's changelog has a text for every key.
        let spelled = part.columns.indices.filter {
            part.from.name == OwnTables.changes.table.name && !part.columns[$0].to.typeName.isEmpty
        }
        do {
            try writer.write(part) { write in
                try reader.forEachRow(of: part.from, part.columns.map(\.from.name)) { row in
                    try stop.check()
                    for column in spelled { row.spellBlob(at: column) }
                    count += 1
                    try write(row)
                }
            }
        } catch let problem as TransferProblem {
            throw StoreError(
                .constraint,
                "table '\(part.to.name)': \(problem.column.map { "column '\($0)': " } ?? "")\(problem.message), in the row "
                    + description(ofRow: problem.row, part, reader) + " of the old store; nothing was moved")
        }
        return count
    }

    private func differs(_ what: String) -> StoreError {
        StoreError(.database, "\(what); \(new.name) has not kept all rows, and nothing was moved")
    }

    /// The validators and all else that must arrive. The marks of tables are each store's own.
    private static func comparable(_ requests: [RequestRow]) -> [RequestRow] {
        requests.map { request in
            var request = request
            request.state.schema = nil
            return request
        }.sorted { ($0.source, $0.state.key) < ($1.source, $1.state.key) }
    }

    /// Reads a row again to name it by its key; by its number where that is not possible any more.
    private func description(ofRow number: Int, _ part: TransferPlan.Part, _ reader: any TransferReader) -> String {
        struct Found: Error { var row: String }
        let key = part.from.primaryKey.isEmpty ? part.columns.prefix(3).map(\.from.name) : part.from.primaryKey
        var current = 0
        do {
            try reader.forEachRow(of: part.from, key) { row in
                current += 1
                guard current == number else { return }
                throw Found(
                    row: zip(key, key.indices).map { "\($0) = \(row.description(ofColumn: $1))" }.joined(
                        separator: ", "))
            }
        } catch let found as Found {
            return "(\(found.row))"
        } catch {}
        return "\(number)"
    }
}

/// The result of a move from one store to another.
package struct StoreMoveReport: Sendable, Equatable {
    /// The number of rows of each table, in the order of the names.
    package var tables: [(name: String, rows: Int)] = []
    package var sources = 0
    package var requests = 0
    package var runs = 0
    package var changes = 0

    package init() {}

    package static func == (left: StoreMoveReport, right: StoreMoveReport) -> Bool {
        left.tables.elementsEqual(right.tables, by: ==) && left.sources == right.sources
            && left.requests == right.requests && left.runs == right.runs && left.changes == right.changes
    }
}
