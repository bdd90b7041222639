import PostgresClient

/// The effects of a parent's change on its children: the store's foreign keys, seen from the parent's side. Keys that only
/// refuse at the end of a statement or a transaction are not included.
struct ForeignKeyGraph: Sendable {
    /// One foreign key of a child.
    struct Reference: Sendable {
        var child: StoreTableDetails
        var key: StoreForeignKey
    }

    private var references: [UInt32: [Reference]] = [:]

    /// Reads all foreign keys of the database as they are at this moment.
    init(_ cache: TableDetailsCache, in connection: PostgresConnection) throws {
        let keys = try Catalog(connection).actingForeignKeys()
        let children = try cache.details(ids: Set(keys.map(\.child)), in: connection)
        for (child, key) in keys {
            guard let child = children[child] else { continue }
            references[key.parentID, default: []].append(Reference(child: child, key: key))
        }
    }

    func references(to table: StoreTableDetails) -> [Reference] { references[table.oid] ?? [] }
}
