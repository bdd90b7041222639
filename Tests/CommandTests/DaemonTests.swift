import Foundation
import TestSupport
import Testing

/// The daemon as a process, with real signals.
@Suite(.timeLimit(.minutes(10))) struct DaemonTests {
    /// Starts the daemon, hands over the lines of its log, and stops it.
    private func withDaemon(
        _ fixture: ContactsFixture, environment: [String: String] = [:],
        _ body: (RunningProgram, inout AsyncStream<String>.Iterator) async throws -> Void
    ) async throws {
        var program = fixture.program
        program.environment.merge(environment) { $1 }
        let daemon = try program.start(["run", "--log-level", "debug"])
        var lines = daemon.errorLines.makeAsyncIterator()
        do {
            try await body(daemon, &lines)
        } catch {
            daemon.signal(SIGKILL)
            throw error
        }
        daemon.signal(SIGTERM)
        // Requests that hang do not keep it: where one does, the run is not recorded as cancelled.
        let status = await daemon.end()
        #expect(status == 0)
    }

    /// Reads on until a line says this.
    private func wait(_ lines: inout AsyncStream<String>.Iterator, for text: String) async throws -> String {
        while let line = await lines.next(isolation: #isolation) {
            if line.contains(text) { return line }
        }
        throw Missing(text: text)
    }

    private struct Missing: Error { var text: String }

    @Test func signalsRefreshReloadAndStop() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            try await withDaemon(fixture) { daemon, lines in
                _ = try await wait(&lines, for: "directory: committed")
                daemon.signal(SIGUSR1)
                _ = try await wait(&lines, for: "directory: unchanged")

                fixture.serve("b", contacts: 6)
                let refresh = try await fixture.program.run("refresh", "directory")
                #expect(refresh.status == 0, "\(refresh.standardError)")
                _ = try await wait(&lines, for: "Refreshing sources=directory")
                _ = try await wait(&lines, for: "directory: committed")

                let valid = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
                try fixture.folder.write(valid + "\nnonsense = 1\n", to: "sources.toml")
                daemon.signal(SIGHUP)
                _ = try await wait(&lines, for: "the old one stays active")
                _ = try await wait(&lines, for: "nonsense: unknown key")
                daemon.signal(SIGUSR1)
                _ = try await wait(&lines, for: "directory: unchanged")

                let more =
                    valid
                    + "\n[[sources.more.requests]]\nurl = \"\(fixture.server.url)/companies.xml\"\nparser = \"CompaniesParser\"\n"
                try fixture.folder.write(more, to: "sources.toml")
                let before = fixture.server.requests("/contacts.xml").count
                daemon.signal(SIGHUP)
                _ = try await wait(&lines, for: "Configuration reloaded")
                _ = try await wait(&lines, for: "more: committed")
                #expect(fixture.server.requests("/contacts.xml").count == before)

                let second = try await fixture.program.run("run")
                #expect(
                    second.status == 1 && second.standardError.contains("another daemon (process \(daemon.identifier))")
                )
            }
            #expect(!FileManager.default.fileExists(atPath: fixture.storePath + "-daemon"))
        }
    }

    @Test func whateverBytesAreInTheFileTheOldOneStaysInForce() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            let file = fixture.folder.file("sources.toml")
            let valid = try Data(contentsOf: URL(fileURLWithPath: file))
            try await withDaemon(fixture) { daemon, lines in
                _ = try await wait(&lines, for: "directory: committed")
                let broken: [(bytes: Data?, message: String)] = [
                    (Data("[#x]".utf8), ":1: this is not TOML"), (Data("[.]".utf8), ":1: this is not TOML"),
                    (Data("[[".utf8), ":1: this is not TOML"), (Data("a=[}".utf8), ":1: this is not TOML"),
                    (valid + Data("\0[sources.x]\nnonsense = 1\n".utf8), "a NUL byte"),
                    (valid + Data([0xFF]), "not UTF-8"), (Data(), "the file is empty"), (nil, "is a folder"),
                    (Data(repeating: UInt8(ascii: "["), count: 50_000_000), "is larger than 16 MiB"),
                    (Data(repeating: UInt8(ascii: "["), count: 1_000_000), ":1: this is not TOML"),
                ]
                for (bytes, message) in broken {
                    try FileManager.default.removeItem(atPath: file)
                    if let bytes {
                        try bytes.write(to: URL(fileURLWithPath: file))
                    } else {
                        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
                    }
                    daemon.signal(SIGHUP)
                    _ = try await wait(&lines, for: "the old one stays active")
                    _ = try await wait(&lines, for: message)
                }
                daemon.signal(SIGUSR1)
                _ = try await wait(&lines, for: "directory: unchanged")
                try FileManager.default.removeItem(atPath: file)
                try valid.write(to: URL(fileURLWithPath: file))
                daemon.signal(SIGHUP)
                _ = try await wait(&lines, for: "Configuration reloaded")
            }
        }
    }

    @Test func refreshDuringARunRefreshesOnceMore() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            let gate = Gate()
            fixture.server.route("/companies.xml") { _ in
                gate.wait()
                let company = "<company id='a0'><name>\(UUID())</name></company>"
                return StubServer.response(200, "<companies>\(company)</companies>")
            }
            fixture.server.document("/contacts.xml", "<contacts><contact><email>e</email></contact></contacts>")
            try await withDaemon(fixture) { daemon, lines in
                _ = try await wait(&lines, for: "Running")
                await gate.untilSomebodyWaits()
                #expect(try await fixture.program.run("refresh", "directory").status == 0)
                daemon.signal(SIGUSR1)
                _ = try await wait(&lines, for: "Refreshing")
                gate.open()
                _ = try await wait(&lines, for: "directory: committed")
                _ = try await wait(&lines, for: "directory: committed")
            }
        }
    }

    /// A host that has asked for a pause gets no request, whoever asks for one, so a refresh says until when it waits.
    @Test func aRefreshSaysThatTheHostHasAskedForAPause() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.server.route("/companies.xml") { _ in
                StubServer.response(429, "", ["Retry-After": "3600"])
            }
            try await withDaemon(fixture) { daemon, lines in
                _ = try await wait(&lines, for: "directory: discarded")
                let refresh = try await fixture.program.run("refresh", "directory")
                #expect(refresh.status == 0)
                #expect(
                    refresh.standardOutput.contains("directory: the server asks to wait until "),
                    "\(refresh.standardOutput)")
                let json = try await fixture.program.run("refresh", "directory", "--json")
                #expect(json.standardOutput.contains("\"waits\""), "\(json.standardOutput)")
                #expect(fixture.server.requests("/companies.xml").count == 1)
            }
        }
    }

    @Test func stoppingInTheMiddleOfABodyLeavesNoTrace() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 50)
            #expect(try await fixture.program.run("sync").status == 0)
            let before = try dumpRows(path: fixture.storePath)
            fixture.server.route("/contacts.xml") { _ in
                [
                    StubServer.head(200, [:]), .send(Array("<contacts><contact><email>half</email></contact>".utf8)),
                    .hang,
                ]
            }
            try await withDaemon(fixture) { daemon, lines in
                _ = try await wait(&lines, for: "Running")
                daemon.signal(SIGUSR1)
                while fixture.server.requests("/contacts.xml").count < 2 { try await Task.sleep(for: .milliseconds(2)) }
            }
            #expect(try dumpRows(path: fixture.storePath) == before)
            #expect(
                try await sqlite(fixture.storePath, "SELECT outcome FROM tributary_run ORDER BY id DESC") == "cancelled"
            )
            #expect(try files(in: fixture.storePath + "-work").isEmpty)
        }
    }

    @Test(arguments: [SIGINT, SIGTERM])
    func syncIsCancelledByASignal(_ signal: Int32) async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            fixture.server.route("/contacts.xml") { _ in
                [StubServer.head(200, [:]), .send(Array("<contacts>".utf8)), .hang]
            }
            let running = try fixture.program.start(["sync"])
            while fixture.server.requests("/contacts.xml").isEmpty { try await Task.sleep(for: .milliseconds(2)) }
            running.signal(signal)
            let output = await running.output()
            // A shell shows 130 or 143.
            #expect(output.status == -signal && output.standardOutput.contains("cancelled"))
            #expect(try dumpRows(path: fixture.storePath).isEmpty)
        }
    }

    @Test func systemdIsToldHowThingsStand() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            let socket = try NotifySocket(path: fixture.folder.file("notify"))
            defer { socket.close() }
            let environment = ["NOTIFY_SOCKET": socket.path, "WATCHDOG_USEC": "100000"]
            try await withDaemon(fixture, environment: environment) { daemon, lines in
                #expect(socket.next { $0.contains("READY=1") } != nil)
                #expect(socket.next { $0.contains("STATUS=directory: committed") } != nil)
                #expect(socket.next { $0 == "WATCHDOG=1" } != nil)
                daemon.signal(SIGHUP)
                #expect(socket.next { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") } != nil)
                #expect(socket.next { $0.contains("READY=1") } != nil)
            }
            #expect(socket.next { $0.contains("STOPPING=1") } != nil)
        }
    }

    @Test func logLinesForTheJournalCarryTheirPriority() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            let log = fixture.folder.file("log")
            try Data().write(to: URL(fileURLWithPath: log))
            let status = try FileManager.default.attributesOfItem(atPath: log)
            let device = try #require(status[.systemNumber] as? NSNumber)
            let number = try #require(status[.systemFileNumber] as? NSNumber)
            var program = fixture.program
            program.environment["JOURNAL_STREAM"] = "\(device):\(number)"
            let daemon = try RunningProgram(program, ["run"], standardError: log)
            while try !String(contentsOfFile: log, encoding: .utf8).contains("committed") {
                try await Task.sleep(for: .milliseconds(2))
            }
            daemon.signal(SIGTERM)
            #expect(await daemon.end() == 0)
            let lines = try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n")
            #expect(lines.allSatisfy { $0.hasPrefix("<6>") || $0.hasPrefix("<5>") })
            #expect(lines.contains { $0.hasPrefix("<6>directory: committed: 15 inserted") })
        }
    }

    /// After seven failures, the daemon would wait for two minutes.
    @Test func theDaemonGoesOnFromASyncThatSucceeds() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            let sources = try String(contentsOfFile: fixture.folder.file("sources.toml"), encoding: .utf8)
            let header = "[sources.directory]\n"
            try #require(sources.contains(header))
            try fixture.folder.write(
                sources.replacing(/cache += "[^"]+"\n/, with: "").replacing(header, with: header + "cache = \"2s\"\n"),
                to: "sources.toml")
            for _ in 0..<7 { #expect(try await fixture.program.run("sync", "directory", "--force").status == 1) }
            try await withDaemon(fixture) { _, lines in
                _ = try await wait(&lines, for: "Running")
                fixture.serve("a", contacts: 5)
                let sync = try await fixture.program.run("sync", "directory", "--force")
                #expect(sync.status == 0 && sync.standardError.isEmpty, "\(sync)")
                _ = try await wait(&lines, for: "directory: unchanged")
            }
        }
    }

    @Test func aStoreThatIsDeletedEndsTheDaemonWithAnErrorThatSystemdRestarts() async throws {
        try await ContactsFixture.with { (fixture) async throws in
            fixture.serve("a", contacts: 5)
            let file = fixture.folder.file("sources.toml")
            let sources = try String(contentsOfFile: file, encoding: .utf8)
            try fixture.folder.write(sources + "\n[daemon]\nlisten = \"127.0.0.1:0\"\n", to: "sources.toml")
            let daemon = try fixture.program.start(["run"])
            var lines = daemon.errorLines.makeAsyncIterator()
            _ = try await wait(&lines, for: "directory: committed")
            try FileManager.default.removeItem(atPath: fixture.storePath)
            fixture.serve("b", contacts: 5)
            daemon.signal(SIGUSR1)
            let line = try await wait(&lines, for: "is gone since it was opened")
            #expect(line.contains(fixture.storePath))
            #expect(await daemon.end() == 74)
            // What ends because of that logs nothing of its own, but for the run that was asked for.
            while let line = await lines.next(isolation: #isolation) {
                #expect(!line.contains(" ERROR ") || line.contains("directory: discarded"), "\(line)")
            }
            // Started again, it makes a new one.
            try await withDaemon(fixture) { _, lines in _ = try await wait(&lines, for: "directory: committed") }
        }
    }
}
