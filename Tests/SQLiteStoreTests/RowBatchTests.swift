import FeedModel
import Foundation
import GRDB
import Testing

@testable import FeedStaging
@testable import SQLiteStore

/// Rows on their way to their staging table.
@Suite struct RowBatchTests {
    /// Returns the second column's values, in the order of the batch.
    private func values(_ batch: RowBatch) -> [DatabaseValue?] {
        var values: [DatabaseValue?] = []
        batch.forEachValue(ofColumn: 1) { values.append(RowBatch.value(at: $0.baseAddress!)) }
        return values
    }

    @Test func textsAreSortedAndEqualOnesKeepTheirOrder() {
        let batch = RowBatch(key: RowBatch.SortKey(column: 0, isInteger: false))
        for (number, key) in ["b", "a", "b", "a"].enumerated() {
            batch.beginRow()
            batch.append(key)
            batch.append(Int64(number))
        }
        batch.sortByKey()
        #expect(values(batch) == [1, 3, 0, 2].map(\.databaseValue))
    }

    /// In a column of texts, 1 is the key '1'. The last of the two counts.
    @Test(arguments: [1, 123_456_789] as [Int64]) func aNumberThatEqualsATextComesAfterIt(key: Int64) {
        let batch = RowBatch(key: RowBatch.SortKey(column: 0, isInteger: false))
        for number in 0..<2 {
            batch.beginRow()
            if number == 0 { batch.append("\(key)") } else { batch.append(key) }
            batch.append(Int64(number))
        }
        batch.sortByKey()
        #expect(values(batch) == [0, 1].map(\.databaseValue))
    }

    /// Returns whether the keys of batches ascend, each after those before it.
    private func ascends(_ batches: [[DatabaseValue]], isInteger: Bool = false) -> [Bool] {
        var last: RowBatch.LastKey?
        return batches.map { keys in
            let batch = RowBatch(key: RowBatch.SortKey(column: 0, isInteger: isInteger))
            for key in keys {
                batch.beginRow()
                batch.append(key)
            }
            return batch.ascends(after: &last)
        }
    }

    @Test func keysAscendOverBatches() {
        func texts(_ texts: [String]) -> [DatabaseValue] { texts.map(\.databaseValue) }
        #expect(
            ascends([texts(["a", "ab", "b"]), texts(["c"]), texts([]), texts(["long key 1", "long key 2"])]) == [
                true, true, true, true,
            ])
        #expect(ascends([texts(["a", "a"])]) == [false])
        #expect(ascends([texts(["b", "a"])]) == [false])
        #expect(ascends([texts(["a", "b"]), texts(["b"])]) == [true, false])
        #expect(ascends([texts(["long key 2"]), texts(["long key 1"])]) == [true, false])
        #expect(ascends([texts(["", "a\u{0}", "a\u{0}\u{0}"])]) == [true])
        #expect(ascends([["a".databaseValue, .null]]) == [false])
        #expect(ascends([["a".databaseValue, 2.databaseValue]]) == [false])
        let numbers = [Int64.min, -1, 0, 1, .max].map(\.databaseValue)
        #expect(ascends([numbers], isInteger: true) == [true])
        #expect(ascends([[2.databaseValue, 10.databaseValue], [10.databaseValue]], isInteger: true) == [true, false])
        #expect(ascends([[1.databaseValue, "2".databaseValue]], isInteger: true) == [false])
        #expect(ascends([[1.databaseValue, 2.5.databaseValue]], isInteger: true) == [false])
    }

    private enum Shape: String, CaseIterable { case list, value, nestedList, nestedRecord }

    private struct Odd: FeedRecord {
        static let databaseTableName = "item"
        var id: String
        private var shape = Shape.list.rawValue

        enum CodingKeys: CodingKey { case id, shape }

        init(id: String, _ shape: Shape) {
            self.id = id
            self.shape = shape.rawValue
        }

        func encode(to encoder: any Encoder) throws {
            switch Shape(rawValue: shape) {
            case .list:
                var container = encoder.unkeyedContainer()
                try container.encode(id)
            case .value:
                var container = encoder.singleValueContainer()
                try container.encode(id)
            case .nestedList:
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(id, forKey: .id)
                var list = container.nestedUnkeyedContainer(forKey: .shape)
                try list.encode(shape)
            case .nestedRecord, nil:
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(id, forKey: .id)
                var record = container.nestedContainer(keyedBy: CodingKeys.self, forKey: .shape)
                try record.encode(shape, forKey: .shape)
            }
        }
    }

    /// A record that encodes itself, and not as columns, is an error of its run, and not the end of the process.
    @Test(arguments: Shape.allCases) private func aRecordThatIsNoRowIsRefused(shape: Shape) async throws {
        try await StoreFixture.with("CREATE TABLE item (id TEXT PRIMARY KEY, shape TEXT)") { fixture in
            let context = fixture.store.makeWorkerContext(source: "s")
            defer { context.remove() }
            context.beginRequest(0, rule: MergeRule())
            for _ in 0..<2 {
                #expect(throws: EncodingError.self) { try context.insert(Odd(id: "a", shape)) }
            }
        }
    }
}
