import Foundation
import TestSupport
import Testing

/// The built executables, as users call them.
@Suite struct SyncCommandTests {
    @Test func aStackWithAForeignKeyIsCommittedAndThenUnchanged() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 25)
            let first = try await fixture.program.run("sync", "--json")
            #expect(first.status == 0, "\(first.standardError)")
            let report = try #require(
                try JSONSerialization.jsonObject(with: Data(first.standardOutput.utf8)) as? [String: Any])
            #expect(
                Set(report.keys) == [
                    "source", "outcome", "inserted", "updated", "deleted", "unchanged", "replaced", "skipped", "bytes",
                    "seconds", "error", "requests", "drift",
                ])
            #expect(report["outcome"] as? String == "committed" && report["inserted"] as? Int == 35)
            #expect(report["error"] is NSNull)
            let requests = try #require(report["requests"] as? [[String: Any]])
            #expect(requests.map { $0["key"] as? String } == ["Companies", "Contacts"])
            #expect(requests.allSatisfy { Set($0.keys) == ["key", "status", "outcome", "bytes", "seconds"] })

            #expect(try await fixture.program.run("sync").standardOutput.contains("not due"))
            #expect(try await fixture.program.run("sync", "--force").standardOutput.contains("unchanged"))
            #expect(
                try await fixture.program.run("sync", "--full", "directory").standardOutput.contains(
                    "no changes (35 rows unchanged)"))
            fixture.serve("b", contacts: 20)
            let changed = try await fixture.program.run("sync", "--force")
            #expect(changed.standardOutput.contains("10 inserted, 20 updated, 15 deleted"))
            let rows = try dumpRows(path: fixture.storePath)
            #expect(rows.count == 30)
            #expect(rows.contains("contact: '7@example.org','F7','Älb','Ä','b7',27,1.5,'2026-11-21T08:00:00Z'"))
        }
    }

    /// A source that failed is no success because it waits.
    @Test func aSourceThatWaitsAfterAFailureSaysSo() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.server.document("/companies.xml", "<companies>")
            #expect(try await fixture.program.run("sync").status == 1)
            let again = try await fixture.program.run("sync")
            #expect(again.status == 1)
            let said = again.standardOutput
            #expect(said.contains("directory  waiting    nothing is sent before "), "\(said)")
            #expect(said.contains("as the last run failed: request 'Companies'"), "\(said)")
            #expect(said.contains("; `tributary sync directory --force` tries now"), "\(said)")
            let json = try await fixture.program.run("sync", "--json")
            #expect(json.status == 1 && json.standardOutput.contains("\"outcome\":\"not_due\""))
            fixture.serve("a", contacts: 5)
            #expect(try await fixture.program.run("sync", "--force").status == 0)
            #expect(try await fixture.program.run("sync").status == 0)
        }
    }

    @Test func blockedRunsAreAcceptedByTheirDocuments() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 300)
            #expect(try await fixture.program.run("sync").status == 0)
            let nothing = try await fixture.program.run("accept", "directory", "--yes")
            #expect(nothing.status == 1)
            #expect(nothing.standardError.contains("is not blocked, so there is nothing to accept"))
            fixture.serve("b", contacts: 30)
            let blocked = try await fixture.program.run("sync", "--force")
            let advice = "`tributary accept directory` lets the next run commit them"
            #expect(blocked.status == 1 && blocked.standardOutput.contains(advice))
            let advance = try await fixture.program.run("accept", "directory", "--in-advance", "--yes")
            #expect(advance.status == 1 && advance.standardError.contains("run 2 of source 'directory' is blocked"))
            let accepted = try await fixture.program.run("accept", "directory", "--yes")
            let said = accepted.standardOutput
            #expect(said.contains("the documents of run 2 are accepted"), "\(said)")
            // No daemon runs: until the next run, the status has the acceptance in place of the advice to accept.
            let status = try await fixture.program.run("status", "directory").standardOutput
            #expect(status.contains("the documents of run 2 are accepted, and the next run commits them"), "\(status)")
            #expect(status.contains("`tributary sync directory` does so now"), "\(status)")
            #expect(status.contains("would delete") && !status.contains("tributary accept"), "\(status)")
            let printed = try await fixture.program.run("status", "directory", "--json").standardOutput
            #expect(printed.contains("\"accepted\":{\"run\":2,\"until\":\""), "\(printed)")
            fixture.serve("c", contacts: 3)
            let committed = try await fixture.program.run("sync")
            #expect(committed.status == 0, "\(committed.standardOutput)")
            let ended = try await fixture.program.run("status", "directory", "--json").standardOutput
            #expect(ended.contains("\"accepted\":null") && ended.contains("\"state\":\"ok\""), "\(ended)")
            let rows = try dumpRows(path: fixture.storePath)
            #expect(rows.contains { $0.hasPrefix("contact: '29@example.org','F29','Älb'") })
        }
    }

    @Test func aPermissionIsShownAndWithdrawn() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 300)
            #expect(try await fixture.program.run("sync").status == 0)
            #expect(try await fixture.program.run("accept", "directory", "--in-advance", "--yes").status == 0)
            let status = try await fixture.program.run("status", "directory").standardOutput
            #expect(status.contains("`tributary accept directory --withdraw` withdraws this"), "\(status)")
            let withdrawn = try await fixture.program.run("accept", "directory", "--withdraw")
            #expect(withdrawn.status == 0 && withdrawn.standardOutput == "directory: the permission is withdrawn\n")
            let again = try await fixture.program.run("accept", "directory", "--withdraw")
            #expect(again.status == 0 && again.standardOutput == "directory has no permission\n")
            let both = try await fixture.program.run("accept", "directory", "--withdraw", "--in-advance")
            #expect(both.status == 64 && both.standardError.contains("cannot be combined"), "\(both)")
            fixture.serve("b", contacts: 30)
            #expect(try await fixture.program.run("sync", "--force").status == 1)
            // So is a permission for the documents of a blocked run.
            #expect(try await fixture.program.run("accept", "directory", "--yes").status == 0)
            #expect(try await fixture.program.run("accept", "directory", "--withdraw").status == 0)
            let blocked = try await fixture.program.run("status", "directory", "--json").standardOutput
            #expect(blocked.contains("\"accepted\":null") && blocked.contains("\"state\":\"blocked\""), "\(blocked)")
            #expect(try await fixture.program.run("sync", "--force").status == 1)
            #expect(try dumpRows(path: fixture.storePath).count { $0.hasPrefix("contact:") } == 300)
        }
    }

    @Test func aSyncWhoseOutputNobodyReadsCommits() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 25)
            let sync = try fixture.program.start(["sync"])
            try sync.closeOutput()
            #expect(await sync.end() == 0)
            #expect(try dumpRows(path: fixture.storePath).count == 35)
        }
    }

    @Test func aDiscardedSourceIsExitStatus1AndStatusSaysWhy() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            fixture.server.route("/contacts.xml") { _ in StubServer.response(404, "") }
            let failed = try await fixture.program.run("sync")
            #expect(failed.status == 1)
            #expect(failed.standardOutput.contains("404 Not Found"))
            let status = try await fixture.program.run("status", "--json")
            let printed = try JSONSerialization.jsonObject(with: Data(status.standardOutput.utf8)) as? [String: Any]
            #expect((printed?["daemon"] as? [String: Bool]) == ["running": false])
            let states = try #require(printed?["sources"] as? [[String: Any]])
            #expect(
                Set(states[0].keys) == [
                    "source", "outcome", "last_run", "last_commit", "next_due", "failures", "error", "note", "state",
                    "failing_since", "last_good", "stale", "running", "accepted", "wait",
                ])
            let wait = states[0]["wait"] as? [String: Any]
            #expect(
                wait?["reason"] as? String == "back_off"
                    && wait?["until"] as? String == states[0]["next_due"] as? String)
            #expect(states[0]["outcome"] as? String == "discarded" && states[0]["failures"] as? Int == 1)
            #expect((states[0]["error"] as? String)?.contains("request 'Contacts'") == true)
            #expect(try await fixture.program.run("status").standardOutput.contains("404 Not Found"))
            let history = try await fixture.program.run("history", "directory")
            #expect(history.status == 0 && history.standardOutput.contains("discarded"))
        }
    }

    @Test func wrongUsageAndWrongConfiguration() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            #expect(try await fixture.program.run("sync", "nobody").status == 64)
            #expect(try await fixture.program.run("sync", "--no-such-option").status == 64)
            #expect(try await fixture.program.run("no-such-command").status == 64)
            #expect(try await fixture.program.run("refresh").status == 1)
            #expect(try await fixture.program.run("check").status == 0)
            #expect(try await fixture.program.run("status").standardOutput.contains("  new  "))
            #expect(!FileManager.default.fileExists(atPath: fixture.storePath))
            try fixture.folder.write(
                "[sources.x]\nchace = \"5s\"\nrequests = [{ url = \"http://e.org/\" }]\n", to: "sources.toml")
            for command in ["check", "sync", "status", "run", "refresh", "history"] {
                let output = try await fixture.program.run(command)
                #expect(output.status == 78, "\(command)")
                #expect(
                    output.standardError.contains("sources.toml:2:1: error: sources.x.chace: unknown key\n")
                )
            }
        }
    }

    @Test(arguments: ["run", "sync", "check", "status", "history", "refresh"])
    func everyCommandHasHelp(command: String) async throws {
        let output = try await BuiltProgram("tributary", config: "nowhere.toml").run(command, "--help")
        #expect(output.status == 0 && output.standardOutput.contains("USAGE"))
        let readme = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(
            "../../README.md")
        #expect(
            try String(contentsOf: readme.standardizedFileURL, encoding: .utf8).contains("`\(command)"), "README.md")
    }

    @Test func checkFindsAMissingTable() async throws {
        try await withTemporaryFolder { (folder) async throws in
            try folder.write("CREATE TABEL x (y)", to: "schema.sql")
            let config = try folder.write(
                "[store]\nschema = \"schema.sql\"\n[[sources.a.requests]]\nurl = \"http://e.org/\"\nparser = \"SitemapParser\"\n",
                to: "sources.toml")
            let output = try await BuiltProgram("tributary", config: config).run("check")
            #expect(output.status == 78 && output.standardError.contains("store.schema"))
        }
    }

    /// Killed at any instant: the store holds one version or the other, whole, and the next sync succeeds.
    @Test func killedAtAHundredInstants() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            func expected(_ version: String) async throws -> [String] {
                fixture.serve(version, contacts: 1500)
                #expect(try await fixture.program.run("sync", "directory", "--full").status == 0)
                return try dumpRows(path: fixture.storePath)
            }
            let versions = [try await expected("a"), try await expected("b")]
            /// How long a run takes changes with what other tests do.
            var whole = Duration.zero
            func timeRun() async throws {
                let started = ContinuousClock.now
                #expect(try await fixture.program.run("sync", "directory", "--full").status == 0)
                whole = ContinuousClock.now - started
            }
            try await timeRun()
            var seen: Set<Int> = []
            for round in 0..<100 {
                fixture.serve(round % 2 == 0 ? "a" : "b", contacts: 1500)
                let running = try fixture.program.start(["sync", "directory", "--full"])
                // Instants spread evenly over a run and a little more, in an order that jumps.
                try await Task.sleep(for: whole * Double(round * 37 % 100) / 90)
                running.signal(SIGKILL)
                _ = await running.end()
                let rows = try dumpRows(path: fixture.storePath)
                let version = versions.firstIndex(of: rows)
                #expect(version != nil, "round \(round): neither version")
                seen.insert(version ?? -1)
                // Now and then a whole run, once to either version.
                if round % 25 == 24 {
                    let check = try await sqlite(fixture.storePath, "PRAGMA integrity_check")
                    #expect(check == "ok")
                    try await timeRun()
                    #expect(try dumpRows(path: fixture.storePath) == versions[round % 2])
                }
            }
            #expect(seen == [0, 1])
        }
    }
}
