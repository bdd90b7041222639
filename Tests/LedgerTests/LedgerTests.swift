import FeedModel
import FeedStores
import Foundation
import TestStores
import Testing

/// What every store remembers of sources, requests and runs.
@Suite(.onEachStore) struct LedgerTests {
    let now = Date(timeIntervalSince1970: 1_800_000_000.123)

    @Test func statesSurviveReopening() async throws {
        try await LedgerFixture.with { (tables, first) async throws in
            var sent = RequestState(
                key: "k \"1\"", validators: Validators(etag: "W/\"é\"", lastModified: "then"), fingerprint: "f",
                tables: ["item", "a \"b\", {c}"], sync: .mirror, scope: ["a\"": "b\\"])
            sent.digest = "d"
            sent.movedTo = "https://example.org/"
            sent.movedTimes = 2
            var state = SourceState(
                source: "s", outcome: .discarded, lastRun: now, lastCommit: now - 1, nextDue: now + 60, failures: 3,
                error: "why", note: "note")
            state.gone = "gone"
            state.wait = 60.5
            state.askedUntil = now + 3600
            state.declared = "declared"
            state.attempts = 2
            var report = RunReport(
                source: "s", outcome: .discarded, startedAt: now, skipped: 1, bytes: 2, error: "a\0b",
                requests: [RequestReport(key: "k", status: 304, outcome: .unchanged, bytes: 5, seconds: 0.25)])
            report.counts.inserted = 1
            report.counts.updated = 2
            report.counts.deleted = 3
            report.counts.unchanged = 4
            report.counts.replaced = 5
            report.seconds = 1.5
            try await first.record(Commit(report: report, requests: [sent], state: state))

            let store = try LedgerFixture.open(tables)
            #expect(try store.read { try $0.sources.state(of: "s") } == state)
            #expect(try store.read { try $0.sources.all() } == ["s": state])
            #expect(try store.read { try $0.sources.state(of: "t") } == SourceState(source: "t"))
            let known = try store.states(of: "s")
            #expect(known.source == state)
            #expect(known.requests.keys.sorted() == ["k \"1\""])
            #expect(known.requests["k \"1\""]?.scope == sent.scope)
            #expect(known.requests["k \"1\""]?.tables == sent.tables)
            #expect(known.requests["k \"1\""]?.movedTimes == 2)
            let run = try #require(try store.read { try $0.runs.last(limit: 1) }.first)
            report.number = run.number
            report.error = "a\u{FFFD}b"
            #expect(run == report)
            #expect(
                try tables.rows("SELECT started_at, finished_at FROM tributary_run") == [
                    "2027-01-15T08:00:00.123Z|2027-01-15T08:00:01.623Z"
                ])
            try store.close()
        }
    }

    @Test func runsAreListedTheLatestFirst() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            for (source, outcome) in [
                ("a", RunOutcome.committed), ("b", .discarded), ("a", .discarded), ("a", .unchanged),
            ] {
                try await store.record(.of(source, outcome: outcome))
            }
            #expect(try store.read { try $0.runs.last(limit: 3) }.map(\.source) == ["a", "a", "b"])
            #expect(
                try store.read { try $0.runs.last(of: "a", limit: 9) }.map(\.outcome) == [
                    .unchanged, .discarded, .committed,
                ])
            #expect(try store.read { try $0.runs.last(of: "a", failed: true, limit: 9) }.map(\.outcome) == [.discarded])
            #expect(try store.read { try $0.runs.last(failed: true, limit: 9) }.map(\.source) == ["a", "b"])
        }
    }

    @Test func recentRunsOfSeveralSourcesAreReadAtOnce() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            func add(
                _ source: String, _ outcome: RunOutcome, after seconds: Double, inserted: Int = 0, unchanged: Int = 0
            )
                async throws
            {
                var commit = Commit.of(source, outcome: outcome)
                commit.report.startedAt = now + seconds
                commit.report.seconds = 0.5
                commit.report.counts.inserted = inserted
                commit.report.counts.unchanged = unchanged
                try await store.record(commit)
            }
            try await add("a'", .committed, after: 0, inserted: 7, unchanged: 3)
            try await add("b", .committed, after: 10, inserted: 2)
            for place in 0..<4 { try await add("a'", .unchanged, after: 20 + Double(place)) }
            try await add("b", .discarded, after: 40)
            let sources = [("a'", now + 0.5), ("b", now + 10.5), ("none", nil)] as [(name: String, lastCommit: Date?)]
            let recent = try store.read { try $0.runs.recent(of: sources, limit: 3, changedSince: now + 5) }
            #expect(recent["a'"]?.runs.map(\.outcome) == [.unchanged, .unchanged, .unchanged])
            #expect(recent["a'"]?.rows == 10 && recent["a'"]?.changedRows == 0)
            #expect(recent["b"]?.runs.map(\.outcome) == [.committed, .discarded])
            #expect(recent["b"]?.runs.map(\.changedRows) == [2, 0] && recent["b"]?.runs.first?.startedAt == now + 10)
            #expect(recent["b"]?.rows == 2 && recent["b"]?.changedRows == 2)
            #expect(recent["none"] == nil)
            #expect(try store.read { try $0.runs.recent(of: [], limit: 3, changedSince: now) }.isEmpty)
            let many = (0..<400).map { (name: "s\($0)", lastCommit: Date?.some(now)) }
            #expect(try store.read { try $0.runs.recent(of: many, limit: 30, changedSince: now) }.isEmpty)
            let runs =
                try store.read { try $0.runs.last(of: "a'", limit: 9) }.compactMap(\.number).reversed() as [Int64]
            let middle = try store.read { try $0.runs.neighbours(of: runs[1], of: "a'") }
            #expect(middle.previous == runs[0] && middle.next == runs[2])
            let last = try store.read { try $0.runs.neighbours(of: runs[4], of: "a'") }
            #expect(last.previous == runs[3] && last.next == nil)
            let first = try store.read { try $0.runs.following(runs[0], of: "a'") }
            #expect(first.refresh?.number == runs[1] && first.refresh?.outcome == .unchanged && first.change == nil)
            let none = try store.read { try $0.runs.following(0, of: "a'") }
            #expect(none.refresh?.number == runs[0] && none.change == runs[0])
            // An undo's rows are no documents' rows.
            var undo = Commit.of("b", outcome: .committed)
            undo.report.startedAt = now + 50
            undo.report.seconds = 0.5
            undo.report.kind = .undo
            undo.report.counts.inserted = 9
            try await store.record(undo)
            #expect(
                try store.read { try $0.runs.recent(of: [("b", now + 50.5)], limit: 3, changedSince: now) }["b"]?.rows
                    == 2)
            #expect(
                try store.read { try $0.changelog.runs(after: .start, limit: 9, changing: true) }.map(
                    \.report.counts.inserted) == [])
        }
    }

    @Test func anEventThatFailedIsSentAgainAtOnce() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            _ = try store.declareHooks(["h"])
            #expect(try store.holdHook("h"))
            #expect(try !store.write { try $0.hooks.retry("h") } && !store.write { try $0.hooks.retry("none") })
            try store.write {
                try $0.hooks.recordFailure(of: "h", HookFailure(error: "no", attempts: 2, nextAttempt: now + 60))
            }
            #expect(try store.write { try $0.hooks.retry("h") })
            let state = try #require(try store.read { try $0.hooks.state(of: "h") })
            #expect(state.nextAttempt == nil && state.attempts == 2 && state.error == "no")
            try store.write {
                try $0.hooks.recordFailure(
                    of: "h", HookFailure(error: "gone", attempts: 3, nextAttempt: nil, gone: "f"))
            }
            #expect(try store.write { try $0.hooks.retry("h") })
            #expect(try store.read { try $0.hooks.state(of: "h") }?.gone == nil)
        }
    }

    @Test func attemptsAreNotedAndReleased() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            try await store.writeInGroup {
                try $0.sources.recordAttempt(of: "s", number: 1, wait: 60, declared: "d", now: now)
            }
            #expect(try store.read { try $0.sources.state(of: "s") }.nextDue == now + 60)
            try await store.writeInGroup {
                try $0.sources.recordAttempt(of: "s", number: 3, wait: nil, declared: "e", now: now + 9)
            }
            var state = try store.read { try $0.sources.state(of: "s") }
            #expect(state.nextDue == now + 60)
            #expect(state.wait == 60)
            #expect(state.declared == "e")
            #expect(state.isPaused)
            try await store.writeInGroup {
                try $0.sources.recordPause(of: "s", error: "died", note: "paused", now: now + 10)
            }
            state = try store.read { try $0.sources.state(of: "s") }
            #expect(state.failingSince == now + 10)
            #expect(state.outcome == .discarded)
            #expect(state.error == "died")
            #expect(state.note == "paused")
            #expect(try store.write { try $0.sources.resume(["t", "s", "u"]) } == ["s"])
            #expect(try store.write { try $0.sources.resume(["s"]) } == [])
            state = try store.read { try $0.sources.state(of: "s") }
            #expect(!state.isPaused)
            #expect(state.nextDue == nil)
            #expect(state.error == nil)
        }
    }

    /// The run began while the feed was held back, and ends after it was resumed.
    @Test func aRunDoesNotTakeAResumeBack() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            func undone() throws -> String? { try store.read { try $0.sources.state(of: "s") }.undone }
            var undo = Commit.of("s")
            undo.report.kind = .undo
            undo.state.undone = "{}"
            var held = Commit.of("s")
            held.state.undone = "{}"
            try await store.record(Commit.of("s"))
            for _ in 0..<2 {
                try await store.record(undo)
                try await store.record(held)
                #expect(try undone() == "{}")
                #expect(try store.write { try $0.sources.resume(["s"]) } == ["s"])
                try await store.record(held)
                #expect(try undone() == nil)
            }
            try await store.record(undo)
            // The feed differs from the undone one.
            try await store.record(Commit.of("s"))
            #expect(try undone() == nil)
        }
    }

    @Test func goneSourcesAreForgottenAndBusyHostsKnown() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            var commit = Commit.of("s")
            commit.state.gone = "declaration"
            commit.state.nextDue = now
            commit.busyHost = ("https://a.example", now + 60, 60)
            try await store.record(commit)
            commit = .of("t")
            commit.state.nextDue = now
            commit.busyHost = ("https://b.example", now + 200, 100)
            try await store.record(commit)
            // The first pause ended before the second began.
            #expect(try store.read { try $0.waits.busyHosts(at: now + 100) } == ["https://b.example": now + 200])
            // A daemon whose clock is 40 seconds behind: the server asked for 100.
            #expect(try store.read { try $0.waits.busyHosts(at: now + 60) } == ["https://b.example": now + 160])
            try store.write { try $0.sources.forgetGone(["s", "t"]) }
            #expect(try store.read { try $0.sources.state(of: "s") }.gone == nil)
            #expect(try store.read { try $0.sources.state(of: "s") }.nextDue == nil)
            #expect(try store.read { try $0.sources.state(of: "t") }.nextDue == now)
        }
    }

    @Test func migratedSourcesAreDueExceptDuringAWaitOfAServer() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            func commit(_ source: String, _ outcome: RunOutcome, askedUntil: Date? = nil, gone: String? = nil)
                async throws
            {
                var commit = Commit.of(source)
                commit.state.outcome = outcome
                commit.state.error = "why"
                commit.state.nextDue = now + 900
                commit.state.askedUntil = askedUntil
                commit.state.gone = gone
                try await store.record(commit)
            }
            try await commit("failed", .discarded)
            try await commit("asked", .discarded, askedUntil: now + 60)
            try await commit("earlier", .discarded, askedUntil: now - 60)
            try await commit("blocked", .blocked)
            try await commit("gone", .discarded, gone: "declaration")
            try await commit("other", .discarded)
            try store.write { try $0.sources.makeDue(["failed", "asked", "earlier", "blocked", "gone"], now: now) }
            let states = try store.read { try $0.sources.all() }
            let due = states.compactMapValues(\.nextDue)
            #expect(due == ["asked": now + 60, "gone": now + 900, "other": now + 900])
            let errors = states.compactMapValues(\.error).keys.sorted()
            #expect(errors == ["blocked", "gone", "other"])
        }
    }

    @Test func waitsAreCutToThoseThatWereDecided() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            let far = now + 1e9
            func commit(_ source: String, wait: Double?, lastRun: Date?, due: Date) async throws {
                var commit = Commit.of(source)
                commit.state.nextDue = due
                commit.state.wait = wait
                commit.state.lastRun = lastRun
                commit.state.askedUntil = source == "asked" ? far : nil
                if source == "asked" { commit.busyHost = ("https://a.example", far, 120) }
                try await store.record(commit)
            }
            try await commit("waiting", wait: 60, lastRun: nil, due: far)
            try await commit("old", wait: nil, lastRun: far - 90, due: far)
            try await commit("oldest", wait: nil, lastRun: nil, due: far)
            try await commit("right", wait: 60, lastRun: nil, due: now + 30)
            try await commit("asked", wait: 60, lastRun: nil, due: now + 30)
            // Others are left alone.
            try store.write { try $0.waits.cut(to: now, from: now, of: ["old"]) }
            #expect(
                try store.read { try $0.sources.state(of: "waiting") }.nextDue.map {
                    abs($0.timeIntervalSince(far)) < 1
                } == true)
            let pauses = try store.read { try $0.waits.busyHosts(at: far) }
            #expect(pauses.values.map { abs($0.timeIntervalSince(far)) < 1 } == [true])
            try store.write { try $0.waits.cut(to: now, from: now) }
            func due(_ source: String) throws -> Double? {
                try store.read { try $0.sources.state(of: source) }.nextDue.map {
                    ($0.timeIntervalSince(now) * 1000).rounded() / 1000
                }
            }
            #expect(try ["waiting", "old", "oldest", "right"].map(due) == [60, 90, 604_800, 30])
            #expect(try store.read { try $0.sources.state(of: "old") }.wait.map { abs($0 - 90) < 0.001 } == true)
            #expect(try store.read { try $0.sources.state(of: "asked") }.askedUntil == now + 604_800)
            #expect(try store.read { try $0.waits.busyHosts(at: far) } == ["https://a.example": now + 120])
            // By the former clock, 20 of the 60 seconds were left.
            try await store.writeInGroup { try $0.waits.cut(to: now - 1000, from: now + 40) }
            #expect(try due("waiting") == -980)
        }
    }

    @Test func oldRunsAreForgottenWithTheirChangelog() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            for source in ["a", "b"] { try await store.record(.of(source)) }
            try tables.execute(
                """
                UPDATE tributary_run SET finished_at = '2001-01-01T00:00:01.000Z' WHERE id = 1;
                UPDATE tributary_run SET finished_at = '2001-01-01T00:00:02.000Z' WHERE id = 2;
                INSERT INTO tributary_change (run, "table", key, operation)
                VALUES (1, 'item', 'a', 'insert'), (2, 'item', 'b', 'insert')
                """)
            try await store.record(.of("s"))
            #expect(try store.forgetRuns(before: now, keeping: [:]))
            #expect(try !store.forgetRuns(before: now, keeping: [:]))
            #expect(try tables.rows("SELECT id FROM tributary_run ORDER BY id") == ["2", "3"])
            #expect(try tables.rows("SELECT run, key FROM tributary_change") == ["2|b"])
        }
    }

    /// A run that drew its number before others, and ended after them. Readers go by the numbers.
    @Test func noRunIsForgottenBeforeAnEarlierOne() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            for source in ["a", "b", "c"] { try await store.record(.of(source)) }
            for (run, second) in [(1, 3), (2, 1), (3, 2)] {
                try tables.execute(
                    "UPDATE tributary_run SET finished_at = '2001-01-01T00:00:0\(second).000Z' WHERE id = \(run)")
            }
            try await store.record(.of("s"))
            let begin = try Date("2001-01-01T00:00:00Z", strategy: .iso8601)
            #expect(try !store.forgetRuns(before: begin + 2.5, keeping: [:]))
            #expect(try tables.rows("SELECT count(*) FROM tributary_run") == ["4"])
            // Now the first is old, too; the last of the old ones stays.
            #expect(try !store.forgetRuns(before: begin + 3.5, keeping: [:]))
            #expect(try tables.rows("SELECT id FROM tributary_run ORDER BY id") == ["3", "4"])
        }
    }

    @Test func onlyMissingStatesOfRevalidatedRequestsAreKept() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            try await store.record(.of("s", [request("1", etag: "a"), request("2", etag: "b")]))
            // Another commit has deleted rows of the first request since it was sent.
            try tables.execute("UPDATE tributary_request SET etag = NULL WHERE key = '1'")
            var commit = Commit.of("s", [request("1", etag: "a"), request("2", etag: "b")])
            commit.revalidated = ["1": request("1", etag: "a"), "2": request("2", etag: "b")]
            try await store.record(commit)
            #expect(try tables.rows("SELECT key, etag FROM tributary_request ORDER BY key") == ["1|NULL", "2|b"])
            try await store.record(.of("s", forgotten: ["1"]))
            #expect(try tables.rows("SELECT key FROM tributary_request") == ["2"])
        }
    }

    /// Of a request whose unchanged documents were left out, the rows must all be in the store.
    @Test func validatorsThatAreForgottenMeanwhileStayForgotten() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            let known = request("1", etag: "a")
            try await store.record(.of("s", [known]))
            for (assignment, etag) in [("etag = 'a'", "b"), ("etag = NULL", "NULL")] {
                try tables.execute("UPDATE tributary_request SET \(assignment)")
                var commit = Commit.of("s", [request("1", etag: "b")])
                commit.continued = ["1": known]
                try await store.record(commit)
                #expect(try tables.rows("SELECT etag FROM tributary_request") == [etag])
            }
        }
    }

    @Test func documentsOfListingsBelongToAVersion() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            var documents = ListedDocuments()
            documents.append(7, keys: [1, .max])
            documents.append(.max, keys: [])
            var commit = Commit.of("s", [request("1", etag: "a")])
            commit.listings["1"] = ListingRow(source: "s", key: "1", version: "a", documents: documents)
            for _ in 1...2 { try await store.record(commit) }
            func read(_ source: String, _ version: String) throws -> ListedDocuments? {
                try store.read { try $0.listings.documents(of: source, request: "1", version: version) }
            }
            #expect(try read("s", "a") == documents)
            #expect(try read("s", "b") == nil)
            #expect(try read("t", "a") == nil)
            try tables.execute("UPDATE tributary_listing SET documents = 'BwAAAAAAAAD/////'")
            #expect(try read("s", "a") == ListedDocuments())
            commit.listings.updateValue(nil, forKey: "1")
            try await store.record(commit)
            #expect(try tables.rows("SELECT count(*) FROM tributary_listing") == ["0"])
        }
    }

    @Test func scopesAreWidenedAndValidatorsForgotten() async throws {
        try await LedgerFixture.with { (tables, store) async throws in
            for source in ["b", "c"] {
                try await store.record(.of(source, [request(etag: "x", scope: ["shop": source])]))
            }
            try store.write { ledger in
                try ledger.requests.widenScopes(of: [RequestID(source: "b", key: "1")])
                try ledger.requests.forgetValidators(
                    of: [RequestID(source: "c", key: "1"), RequestID(source: "z", key: "1")])
            }
            #expect(
                try tables.rows("SELECT source, etag, scope FROM tributary_request ORDER BY source") == [
                    "b|x|{}", #"c|NULL|{"shop":"c"}"#,
                ])
        }
    }
}
