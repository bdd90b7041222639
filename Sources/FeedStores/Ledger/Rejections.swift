import FeedModel
import FeedStaging

/// The records that committed runs have left out: `tributary_rejected`.
package struct Rejections: LedgerPart {
    let ledger: Ledger

    /// The most records in one statement: 1 MiB of their texts.
    private static let mostInStatement = 16

    /// Writes the records of a run.
    func write(_ records: RejectedRecords, of run: RecordedRun) throws {
        let size = min(Self.mostInStatement, dialect.rowsInStatement)
        for start in stride(from: 0, to: RejectedRecords.most, by: size) {
            let rows = try records.records(from: start, limit: size).map {
                RejectedRow(run: run.id, source: run.source, record: $0)
            }
            guard !rows.isEmpty else { return }
            try session.execute(OwnTables.rejected.insertion(of: rows, dialect.tables).once)
        }
    }

    /// Returns the records of a run, of a source, or of all, in the order of their ids.
    ///
    /// - Parameter id: the id before the first of them.
    package func records(
        of source: String? = nil, run: Int64? = nil, after id: Int64 = 0, limit: Int
    ) throws -> [RejectedRow] {
        var conditions: [SQLText] = ["id > \(bind: id)"]
        if let source { conditions.append("source = \(bind: source)") }
        if let run { conditions.append("run = \(bind: run)") }
        return try session.all(
            """
            SELECT \(columns(OwnTables.rejected.reader)) FROM \(dialect.rejected)\(conditions.whereClause)
            ORDER BY id LIMIT \(bind: limit)
            """
        ) { try read(OwnTables.rejected.reader, $0) }
    }
}

extension Ledger {
    package var rejections: Rejections { Rejections(ledger: self) }
}
