import FeedModel
import FeedStaging
import TestStores
import Testing

/// Numbers that the store gives to new rows. A number that a commit frees is given to no other row of that commit:
/// whatever refers to the old row would silently refer to the new one.
@Suite(.onEachStore) struct RowNumberTests {
    private func sync(_ fixture: StackFixture, _ names: [String]) throws -> MergeCounts {
        try fixture.commit(MergeRule(sync: .mirror, keys: ["p": ["a"]])) { context in
            for name in names { try context.insert(into: "p", ["a": name]) }
        }
    }

    @Test func aRowOfTheUserKeepsItsParent() async throws {
        let schema = """
            CREATE TABLE p (id INTEGER PRIMARY KEY, a text UNIQUE);
            CREATE TABLE note (words text PRIMARY KEY, p bigint NOT NULL REFERENCES p (id));
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            _ = try sync(fixture, ["bolt", "nut"])
            try fixture.execute("INSERT INTO note SELECT 'of the nut', id FROM p WHERE a = 'nut'")
            #expect(throws: StoreError.self) { try sync(fixture, ["bolt", "washer"]) }
            #expect(try fixture.rows("SELECT words, a FROM note JOIN p ON p = id") == ["of the nut|nut"])
        }
    }

    @Test(arguments: [["bolt", "washer"], ["washer", "screw"]])
    func newNumbersAreAboveAllThatStoodThere(names: [String]) async throws {
        let schema = """
            CREATE TABLE p (id INTEGER PRIMARY KEY, a text UNIQUE);
            CREATE TABLE note (words text PRIMARY KEY, p bigint);
            """
        try await StackFixture.with(schema) { (fixture) async throws in
            _ = try sync(fixture, ["bolt", "nut"])
            try fixture.execute("INSERT INTO note SELECT 'of the nut', id FROM p WHERE a = 'nut'")
            _ = try sync(fixture, names)
            #expect(try fixture.rows("SELECT words, a FROM note JOIN p ON p = id") == [])
            #expect(try fixture.rows("SELECT count(*) FROM p WHERE a IN ('washer', 'screw') AND id <= 2") == ["0"])
            _ = try sync(fixture, names + ["rivet"])
            #expect(try fixture.rows("SELECT a FROM p ORDER BY id") == names + ["rivet"])
        }
    }

    @Test func aTableWithAUsersSequenceGoesOnWithIt() async throws {
        let number = StoreKind.by(
            sqlite: "INTEGER PRIMARY KEY AUTOINCREMENT", postgres: "INTEGER PRIMARY KEY")
        try await StackFixture.with("CREATE TABLE p (id \(number), a text UNIQUE)") { (fixture) async throws in
            _ = try sync(fixture, ["a", "b", "c"])
            _ = try sync(fixture, ["a", "b"])
            _ = try sync(fixture, ["a", "d"])
            #expect(try fixture.rows("SELECT a, id FROM p ORDER BY id") == ["a|1", "d|4"])
        }
    }

    @Test func numbersOfRowsThatAreComparedWholeAreNotGivenAgain() async throws {
        try await StackFixture.with("CREATE TABLE p (id INTEGER PRIMARY KEY, a text)") { (fixture) async throws in
            func sync(_ names: [String]) throws {
                try fixture.commit(MergeRule(sync: .mirror)) { context in
                    for name in names { try context.insert(into: "p", ["a": name]) }
                }
            }
            try sync(["a", "b"])
            try sync(["c", "d"])
            #expect(try fixture.rows("SELECT a FROM p WHERE id <= 2") == [])
        }
    }
}
