import FeedModel
import FeedStores
import TestStores
import TestSupport
import Testing

/// The claims of requests, which are written along with their states.
@Suite(.onEachStore) struct ClaimTests {
    private func sources(
        _ store: LedgerFixture.Store, _ scope: [String: String] = [:], isFolded: Bool = true
    ) throws -> [String] {
        try store.read { try $0.claims.candidates(of: "item", within: scope, isFolded: isFolded) }.map(\.request.source)
    }

    private func commit(
        _ source: String, to store: LedgerFixture.Store, scope: [String: String] = [:], tables: Set<String> = ["Item"]
    ) async throws {
        try await store.record(.of(source, [request(tables: tables, scope: scope)]))
    }

    /// Another process writes, too. What is in the store is what each of them finds.
    @Test func whoWroteWhatIsKnownAcrossProcesses() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            let other = try LedgerFixture.open(tables)
            try await commit("a", to: store)
            try await commit("b", to: other, scope: ["shop": "n"])
            try await commit("c", to: store)
            #expect(try sources(store) == ["a", "b", "c"])
            #expect(try sources(other, ["shop": "s"]) == ["a", "c"])
            #expect(try sources(store, ["Shop": "n", "day": "1"]) == ["a", "b", "c"])
            try await commit("b", to: store, scope: ["shop": "s"])
            #expect(try sources(other, ["shop": "n"]) == ["a", "c"])
            #expect(try sources(other, ["day": "1"]) == ["a", "b", "c"])
            try await commit("c", to: other, tables: ["other"])
            #expect(try sources(store) == ["a", "b"])
            try await store.record(.of("a", forgotten: ["1", "2"]))
            #expect(try sources(other) == ["b"])
            #expect(try other.read { try $0.claims.candidates(of: "OTHER", within: [:], isFolded: true) }.count == 1)
            // Somebody has deleted the state alone.
            try tables.execute("DELETE FROM tributary_request WHERE source = 'b'")
            try await commit("b", to: store)
            #expect(try sources(store, ["shop": "n"]) == ["b"])
            try other.close()
        }
    }

    @Test func claimsAreWidened() async throws {
        try await LedgerFixture.with { (_, store) async throws in
            for source in ["a", "b"] {
                try await commit(source, to: store, scope: ["shop": source], tables: ["item", "Other"])
            }
            #expect(try sources(store, ["shop": "x"]) == [])
            try store.write { try $0.requests.widenScopes(of: [RequestID(source: "b", key: "1")]) }
            #expect(try sources(store, ["shop": "x"]) == ["b"])
            #expect(try store.read { try $0.claims.columns(of: "other") } == [["shop"]])
            // The next commit of the source declares its scope again.
            try await commit("b", to: store, scope: ["shop": "b"], tables: ["item", "Other"])
            #expect(try sources(store, ["shop": "x"]) == [])
        }
    }

    @Test func theColumnsOfScopesAreFound() async throws {
        try await LedgerFixture.with { (_, store) async throws in
            func columns() throws -> Set<Set<String>> { Set(try store.read { try $0.claims.columns(of: "item") }) }
            #expect(try columns() == [])
            try await commit("a", to: store)
            #expect(try columns() == [])
            for source in ["b", "c"] { try await commit(source, to: store, scope: ["Shop": source]) }
            try await commit("d", to: store, scope: ["shop": "d", "day": "1"])
            try await commit("e", to: store, scope: ["day": "1"])
            #expect(try columns() == [["shop"], ["shop", "day"], ["day"]])
        }
    }

    @Test func rowsLeaveExactlyTheScopesWithTheirValues() async throws {
        try await LedgerFixture.with { (_, store) async throws in
            try await commit("a", to: store, scope: ["shop": "17"])
            try await commit("b", to: store, scope: ["shop": "17", "day": "1"])
            try await commit("c", to: store)
            try await commit("d", to: store, scope: ["SHOP": " 017 "])
            let found = try store.read {
                try $0.claims.candidates(of: "item", exactly: ["shop": .integer(17)], isFolded: true)
            }
            #expect(found.map(\.request.source) == ["a", "d"])
        }
    }

    /// A commit reads its own scope's claims of a table that thousands of sources write, and those without a scope.
    @Test func aScopeAmongThousandsIsFoundByTheIndex() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            let requests = (0..<3_000).map { request("\($0)", scope: ["shop": "\($0)"]) }
            try store.write { ledger in
                try ledger.requests.write(requests, of: "s")
                try ledger.requests.write([request()], of: "all")
            }
            try tables.execute("ANALYZE")
            #expect(try sources(store, ["shop": "7"]) == ["all", "s"])
            #expect(try sources(store, ["shop": "7"], isFolded: false).count == 3_001)
            let plans = try store.write { ledger in
                try plan(of: ledger.claims.query(of: "item", within: ["shop": "7"], isFolded: true), ledger)
                    + plan(of: ledger.claims.columnsQuery(of: "item"), ledger)
            }
            #expect(!plans.contains { $0.contains("Seq Scan on tributary_claim") }, "\(plans)")
            #expect(!plans.contains { $0.contains("SCAN c") || $0.contains("SCAN main.") }, "\(plans)")
            #expect(plans.contains { $0.contains("tributary_claim_table") }, "\(plans)")
        }
    }

    /// Returns the database's plan of a query that is kept prepared, on PostgreSQL for any values.
    private func plan(of query: SQLText, _ ledger: Ledger) throws -> [String] {
        func literal(_ value: SQLText.Value) -> String {
            switch value {
            case .text(let text): "'\(text)'"
            case .integer(let number): "\(number)"
            default: "NULL"
            }
        }
        guard StoreKind.current == .postgres else {
            let text = query.rendered { value, _ in (literal(value), false) }.text
            return try ledger.session.all("EXPLAIN QUERY PLAN \(text)") { $0.string(3) ?? "" }
        }
        let (text, values) = query.rendered { _, number in ("$\(number)", true) }
        try ledger.session.execute("SET LOCAL plan_cache_mode = force_generic_plan")
        try ledger.session.execute("PREPARE asked AS \(text)")
        defer { _ = try? ledger.session.execute("DEALLOCATE asked") }
        return try ledger.session.all("EXPLAIN EXECUTE asked(\(values.map(literal).joined(separator: ", ")))") {
            $0.string(0) ?? ""
        }
    }
}

/// The places of scopes in the index of claims.
@Suite struct ScopePlaceTests {
    private func place(_ text: String) -> ScopePlace { ScopePlace(["shop": text]) }

    /// Texts that a column of some type or collation holds for equal.
    @Test(arguments: [
        ["1", "01", "+1", " 1 ", "1.0", "1e0", "10e-1"], ["Ä b", "Ä B ", "\tÄ B"], ["0", "-0", "-0.0"],
        ["9007199254740993", "9007199254740992"], ["0.5", ".5", "5E-1"], ["", "  "],
        [
            "A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11", "{a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11}",
            "a0eebc999c0b4ef8bb6d6bb9bd380a11",
        ], ["12345678-9012-3456-7890-123456789012", "12345678901234567890123456789012"],
    ])
    func equalTextsHaveOnePlace(texts: [String]) {
        #expect(texts.allSatisfy { place($0) == place(texts[0]) })
        #expect(place(texts[0]).values != 0)
        #expect(ScopePlace(["SHOP": texts[0]]) == place(texts[0]))
    }

    @Test func comparedValuesHaveThePlaceOfTheirTexts() {
        for text in ["1", "1.50", "north", "9007199254740993", "1e400"] {
            for comparison in [
                ColumnComparison.exact, ColumnComparison(affinity: .numeric), ColumnComparison(affinity: .real),
                ColumnComparison(affinity: .text, collation: "NOCASE"),
                ColumnComparison(affinity: .text, collation: "RTRIM"),
            ] {
                #expect(ScopePlace(["shop": comparison.value(text)]) == place(text))
            }
        }
    }

    @Test func othersHaveOtherPlaces() {
        let scopes: [[String: String]] = [
            [:], ["shop": "1"], ["shop": "2"], ["shop": "n"], ["day": "1"], ["shop": "1", "day": "1"],
            ["shop": "11", "day": "1"], ["shop": "1", "day": "11"],
        ]
        let places = scopes.map { ScopePlace($0) }
        for (index, place) in places.enumerated() {
            #expect(place.columns >= (index == 0 ? 0 : 1))
            #expect(!places[..<index].contains(place))
        }
    }

    @Test(arguments: [
        "0x11", "-0b1", "1_000", ".5_0", "inf", "+Infinity", "NaN", "a0eebc99-9c0b4ef8-bb6d6bb9-bd380a11",
    ])
    func notationsOfPostgreSQLsOwnMayBeAnyOther(text: String) { #expect(place(text).values == 0) }
}
