import FeedModel
import Foundation
import GRDB
import Testing
@testable import FeedStaging
@testable import FeedStores
@testable import SQLiteStore

/// Which values a column holds for equal, beside what SQLite says.
@Suite struct ColumnComparisonTests {
    static let texts = [
        "", " ", "a", "A", "a ", " a", "é", "e\u{301}", "É", "0", "-0", "1", "01", "+1", "1.0", "1.", "1e0", "10e-1",
        " 1 ", "\t1\n", "1 2", ".5", "0.5", "5e-1", ".", "e5", "1e", "1e+", "--1", "+", "0x1", "1_0", "١", "inf", "nan",
        "9223372036854775807", "9223372036854775808", "-9223372036854775808", "9.2e18", "1e400", "1e3", "1000", "2.50",
        "2.5",
    ]

    @Test(arguments: [
        "TEXT", "INTEGER", "INT", "REAL", "NUMERIC", "DECIMAL(10, 2)", "BLOB", "", "TEXT COLLATE NOCASE",
        "TEXT COLLATE RTRIM", "INTEGER COLLATE NOCASE", "DATE",
    ])
    func valuesAreEqualWhereTheColumnHoldsThemForEqual(type: String) throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, V \(type))")
            let comparison = try #require(
                try StoredTable(db, table: "T", schema: "main")?.comparison(of: ["v"]).columns["v"])
            // Beyond 2^53 a real number is not what its own text is compared as.
            let texts = Self.texts.filter { comparison.affinity != .real || !$0.contains("922337203685477580") }
            for (id, text) in texts.enumerated() {
                try db.execute(sql: "INSERT INTO t VALUES (?, ?)", arguments: [id, text])
            }
            for (id, text) in texts.enumerated() {
                let equal = try Int.fetchSet(db, sql: "SELECT id FROM t WHERE v = ?", arguments: [text])
                let ours = texts.indices.filter { comparison.value(texts[$0]) == comparison.value(text) }
                #expect(equal == Set(ours), "\(type): \(text.debugDescription)")
                let stored = try #require(
                    try DatabaseValue.fetchOne(db, sql: "SELECT v FROM t WHERE id = ?", arguments: [id]))
                #expect(
                    comparison.value(stored: StoredValue(stored)) == comparison.value(text),
                    "\(type): \(text.debugDescription)")
            }
        }
    }

    @Test func aStrictTablesAnyKeepsTextsAsTheyAre() throws {
        try DatabaseQueue().write { db in
            try db.execute(sql: "CREATE TABLE t (a ANY, b INTEGER) STRICT")
            let table = try #require(try StoredTable(db, table: "t", schema: "main"))
            #expect(
                table.comparison(of: ["a", "b", "c"]).columns == [
                    "a": .init(affinity: .blob), "b": .init(affinity: .integer),
                ])
        }
    }
}
