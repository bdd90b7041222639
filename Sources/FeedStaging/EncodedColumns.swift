import GRDB

/// Returns the columns and values of any GRDB record, in the order in which it encodes them.
///
/// GRDB makes a `PersistenceContainer` only for itself. So a wrapper record looks into the one that
/// `databaseDictionary` makes, and stops the encoding there.
func encodedColumns(of record: some EncodableRecord) throws -> [(column: String, value: DatabaseValue)] {
    let spy = ContainerSpy(record: record)
    do {
        _ = try spy.databaseDictionary
    } catch is ContainerSpy.Seen {
    }
    return spy.columns
}

private final class ContainerSpy: EncodableRecord {
    struct Seen: Error {}

    let record: any EncodableRecord
    var columns: [(column: String, value: DatabaseValue)] = []

    init(record: any EncodableRecord) { self.record = record }

    func encode(to container: inout PersistenceContainer) throws {
        try record.encode(to: &container)
        columns = container.map { (column: $0.0, value: $0.1) }
        throw Seen()
    }
}
