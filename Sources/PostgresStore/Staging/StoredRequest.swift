import FeedModel
import FeedStaging
import FeedStores
import GRDB

/// A request of GRDB's, as PostgreSQL takes it: GRDB writes SQL for SQLite only.
struct StoredRequest {
    var sql: String
    var parameters: [PostgresValue?]
    var adapter: (any RowAdapter)?

    /// - Parameter db: a database with the store's tables, without rows.
    init(_ request: some FetchRequest, _ db: Database) throws {
        let prepared = try request.makePreparedRequest(db, forSingleResult: true)
        adapter = prepared.adapter
        var rewritten = RewrittenSQL(prepared.statement.sql)
        // SQLite's parameters: `?`, and `:name` or `@name`, which may stand in many places.
        var names: [String] = []
        var skipsNext = false
        for (index, token) in rewritten.tokens.enumerated() where !token.isQuoted {
            if skipsNext {
                skipsNext = false
                rewritten.replace(token, by: "")
            } else if token.text == "?" {
                names.append("?")
                rewritten.replace(token, by: "$\(names.count)")
            } else if token.text == ":" || token.text == "@", index + 1 < rewritten.tokens.count {
                let name = token.text + rewritten.tokens[index + 1].text
                if !names.contains(name) { names.append(name) }
                rewritten.replace(token, by: "$\((names.firstIndex(of: name) ?? 0) + 1)")
                skipsNext = true
            }
        }
        sql = rewritten.sql
        // GRDB keeps the values to itself; SQLite tells what they are.
        parameters = []
        guard !names.isEmpty else { return }
        let values = try Row.fetchOne(
            db, sql: "SELECT \(names.joined(separator: ", "))", arguments: prepared.statement.arguments)
        parameters = (values ?? Row()).map { PostgresValue($0.1) }
    }
}

extension PostgresValue {
    /// - Returns: nil for NULL.
    init?(_ value: DatabaseValue) {
        switch value.storage {
        case .null: return nil
        case .int64(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .text(text)
        case .blob(let data): self = .bytes([UInt8](data))
        }
    }
}
