import FeedModel
import FeedStores
import GRDB
import PostgresClient

extension PostgresStore {
    package func copy(_ tables: [String]?, to path: String) throws {
        do {
            let file = try DatabaseQueue()
            try file.inDatabase { db in
                try ask { connection in
                    try connection.inTransaction(.repeatableRead, isReadOnly: true) {
                        let copied =
                            try tables.map { try $0.map { try details(of: $0, connection) } }
                            ?? Catalog(connection).usersTables()
                        let copy = StoredCopy(db: db)
                        try copy.attach(copied, file: path)
                        for table in copied { try copy.copy(table, from: connection) }
                        try copy.detach()
                    }
                }
            }
        } catch let error as DatabaseError {
            throw StoreError(.unavailable, "\(path): the copy cannot be written: \(error.message ?? error.description)")
        }
    }
}
