package import FeedModel
package import FeedStores
package import Foundation

extension PostgresConnection: SQLSession {
    @discardableResult
    package func execute(_ sql: SQLText) throws -> Int {
        let (text, values) = try sql.postgres
        return try execute(text, values).affectedRows
    }

    package func forEachRow(of sql: SQLText, _ body: (any SQLRow) throws -> Bool) throws {
        if sql.isFrequent {
            for row in try execute([sql.prepared])[0] { guard try body(row) else { return } }
            return
        }
        let (text, values) = try sql.postgres
        // To stop would cancel a statement outside of a transaction, by a connection of its own.
        var wantsMore = true
        try forEachRow(of: text, values) { row in
            if wantsMore { wantsMore = try body(row) }
            return .next
        }
    }
}

extension PostgresRow: SQLRow {
    package func storedValue(_ column: Int) -> StoredValue { string(column).map { .text($0) } ?? .null }
    /// Reads the seconds since 1970 of an `extract(epoch FROM …)`.
    package func date(_ column: Int) throws -> Date? { try double(column).map { Date(timeIntervalSince1970: $0) } }

    package func texts(_ column: Int) throws -> [String] { (try stringArray(column) ?? []).compactMap(\.self) }
}

extension SQLText {
    /// The statement with every value as a parameter, to be kept prepared. Each must stand where its type is known.
    var prepared: PostgresStatement {
        get throws {
            let (text, values) = rendered { _, number in ("$\(number)", true) }
            return PostgresStatement(text, try values.map { try $0.postgresValue }, isPrepared: true)
        }
    }

    /// The statement with `$1`, `$2` …, and its values. Numbers stand in the text: where a parameter stands alone, as in a
    /// SELECT, PostgreSQL would take it for a text.
    fileprivate var postgres: (String, [PostgresValue?]) {
        get throws {
            let (text, values) = rendered { value, number in
                switch value {
                case .null: ("NULL", false)
                case .integer(let integer): (integer < 0 ? "(\(integer))" : "\(integer)", false)
                default: ("$\(number)", true)
                }
            }
            return (text, try values.map { try $0.postgresValue })
        }
    }
}

extension SQLText.Value {
    fileprivate var postgresValue: PostgresValue? {
        get throws {
            switch self {
            case .null: nil
            case .integer(let number): .integer(number)
            case .real(let number): .double(number)
            case .text(let text): .text(text)
            case .blob(let data): .bytes([UInt8](data))
            case .bool(let bool): .bool(bool)
            case .date(let date): .text(StoreDate.text(date))
            case .texts(let texts): .textArray(try PostgresTextArray(texts))
            }
        }
    }
}
