import FeedFetching
import FeedModel
import Foundation
import TestEngine
import TestSupport
import Testing

@testable import TributaryEngine
@testable import FeedConfiguration

/// Programs that are told, well and badly behaved.
@Suite struct HookProgramTests {
    private static var event: HookEvent {
        HookEvent(
            id: "msg_1", kind: .changed, hook: "h", source: "s", run: 7,
            time: Date(timeIntervalSince1970: 1_800_000_000))
    }

    private static let secret = "sw0rdfish-and-forty-other-fishes"
    private static let redact: @Sendable (String) -> String = { Redactor(secrets: [secret]).redact($0) }

    /// Tells a shell script. The shell reads it: a file that another process has open for writing, as one that is being
    /// started by another test may, cannot be run itself.
    private func tell(
        _ script: String, rows: Int = 0, timeout: Duration = .seconds(20),
        _ body: (HookOutcome, TemporaryFolder) throws -> Void
    ) async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = try folder.write("#!/bin/sh\ncd '\(folder.path)'\n\(script)\n", to: "notify")
            var event = Self.event
            event.changes = (0..<rows).map {
                ChangelogEntry(id: Int64($0), table: "thing", key: .text("key \($0)"), operation: "insert")
            }
            let webhooks = WebhookClient()
            let hook = HookDeclaration(
                name: "h", events: [.changed], sources: [], after: .zero, rows: 100, timeout: timeout,
                receiver: .program(["/bin/sh", path, "an argument"].map { InterpolatedText($0) }))
            let outcome = try await HookSender(webhooks: webhooks, clock: SystemClock(), redact: Self.redact).send(
                event, to: hook)
            try await webhooks.shutdown()
            try body(outcome, folder)
        }
    }

    @Test func aProgramGetsTheEventAndItsArguments() async throws {
        try await tell("cat > event; echo \"$1\" > argument") { outcome, folder in
            #expect(outcome == .delivered("exit status 0"))
            let event = try JSONDecoder().decode(
                HookFixture.Event.self, from: Data(contentsOf: URL(fileURLWithPath: folder.file("event"))))
            #expect(event.id == "msg_1" && event.run == 7)
            #expect(try String(contentsOfFile: folder.file("argument"), encoding: .utf8) == "an argument\n")
        }
    }

    /// A process that it leaves behind would keep the daemon's socket, and a daemon that starts again could not listen.
    @Test func aProgramInheritsNothingButItsInputAndOutput() async throws {
        // Not one of the three that the program has, which are free in a process without input.
        let first = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let listener = fcntl(first, F_DUPFD, 64)
        close(first)
        defer { close(listener) }
        try await tell("readlink /proc/$$/fd/\(listener) > inherited; cat > event") { outcome, folder in
            #expect(outcome == .delivered("exit status 0"))
            let inherited = try String(contentsOfFile: folder.file("inherited"), encoding: .utf8)
            #expect(inherited.isEmpty)
            #expect(FileManager.default.contents(atPath: folder.file("event"))?.isEmpty == false)
        }
    }

    @Test func aProgramThatFailsSaysWhy() async throws {
        try await tell("echo 'no such room' >&2; exit 3") { outcome, _ in
            #expect(outcome == .failed("/bin/sh ended with status 3: no such room"))
        }
    }

    @Test func aProgramThatIgnoresItsInputIsNoCrash() async throws {
        try await tell("exec 0<&-; exit 0", rows: 20_000) { outcome, _ in
            #expect(outcome == .delivered("exit status 0"))
        }
    }

    @Test func aProgramThatReadsSlowlyGetsEverything() async throws {
        try await tell("sleep 0.1; wc -c > size", rows: 20_000) { outcome, folder in
            #expect(outcome == .delivered("exit status 0"))
            let size = try String(contentsOfFile: folder.file("size"), encoding: .utf8)
            #expect((Int(size.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0) > 1_000_000)
        }
    }

    @Test func ofWhatAProgramPrintsTheEndIsKept() async throws {
        try await tell("yes 'a long line' | head -c 3000000; echo the end; exit 1") { outcome, _ in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.hasSuffix("the end") && error.utf8.count < 2_500, "\(error.suffix(300))")
        }
    }

    @Test func theEndOfALongLastLineIsTold() async throws {
        try await tell("yes 'a long line' | tr -d '\\n' | head -c 3000; echo the end; echo; exit 1") { outcome, _ in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.hasSuffix("a long linea long lthe end") && error.utf8.count < 1_100, "\(error)")
        }
    }

    /// Of one that lies where the output is cut, the rest could not be found.
    @Test func noPartOfASecretIsTold() async throws {
        let long = "head -c 1985 /dev/zero | tr '\\0' x"
        try await tell("printf %s \(Self.secret); \(long); printf %s \(Self.secret); exit 1") { outcome, _ in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.hasSuffix("xxx[secret]") && !error.contains("fish"), "\(error)")
        }
        let longer = "\(long); printf %s \(Self.secret); head -c 985 /dev/zero | tr '\\0' x"
        try await tell("\(longer); exit 1") { outcome, _ in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.hasSuffix("xxx") && !error.contains("fish"), "\(error)")
        }
        try await tell("printf %s \(Self.secret); \(long); exit 1") { outcome, _ in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.hasSuffix(String(repeating: "x", count: 900)) && !error.contains("fish"), "\(error)")
        }
    }

    /// A PEM key is longer than what is shown of the output.
    @Test func noPartOfALongSecretIsTold() async throws {
        let key = (0..<600).map { "line\($0)" }.joined()
        let redact: @Sendable (String) -> String = { Redactor(secrets: [key]).redact($0) }
        func text(_ parts: [String]) -> String {
            let printed = Data(parts.joined().utf8)
            var output = ProgramOutput()
            for start in stride(from: 0, to: printed.count, by: 5_000) {
                output.append(printed[start..<min(start + 5_000, printed.count)])
            }
            return output.text(redact)
        }
        for rest in [0, 900, 2_000, 129 << 10, 300 << 10] {
            let shown = text([key, String(repeating: "x", count: rest), key, "the end"])
            #expect(shown.hasSuffix("[secret]the end") && shown.utf8.count <= 1_000 && !shown.contains("line"))
        }
        #expect(!text(Array(repeating: key, count: 60) + ["the end"]).contains("line"))
    }

    /// In a log and in `status`, an error is one line.
    @Test func linesOfAProgramAreOneError() async throws {
        try await tell("echo 'first  '; echo; printf 'second\\r\\n'; echo third >&2; exit 1") { outcome, _ in
            #expect(outcome == .failed("/bin/sh ended with status 1: first; second; third"))
        }
    }

    @Test func aProgramThatHangsIsKilledWithItsChildren() async throws {
        try await tell(
            "trap '' TERM; (trap '' TERM; echo $$ > leader; exec sleep 1000) & echo $! > child; wait",
            timeout: .milliseconds(300)
        ) { outcome, folder in
            guard case .failed(let error, _) = outcome else {
                Issue.record("\(outcome)")
                return
            }
            #expect(error.contains("did not end within 0.3 s, and was killed"))
            let child = try String(contentsOfFile: folder.file("child"), encoding: .utf8)
            let pid = try #require(Int32(child.trimmingCharacters(in: .whitespacesAndNewlines)))
            // Gone, or not yet taken note of by whoever inherits it. A busy machine takes its time to kill.
            func isGone() -> Bool {
                let state = try? String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
                return state == nil || state?.contains(") Z") == true
            }
            let patience = ContinuousClock.now + .seconds(60)
            while !isGone(), ContinuousClock.now < patience { usleep(2_000) }
            #expect(isGone())
        }
    }

    @Test(.timeLimit(.minutes(10))) func aProgramThatLeavesAChildBehindIsNotWaitedFor() async throws {
        try await tell("sleep 100000 & echo $! > child; exit 0") { outcome, folder in
            #expect(outcome == .delivered("exit status 0"))
            let child = try String(contentsOfFile: folder.file("child"), encoding: .utf8)
            kill(try #require(Int32(child.trimmingCharacters(in: .whitespacesAndNewlines))), SIGKILL)
        }
    }

    @Test func aProgramThatIsNotThereIsAnError() async throws {
        let webhooks = WebhookClient()
        let hook = HookDeclaration(
            name: "h", events: [.changed], sources: [], after: .zero, rows: 100, timeout: .seconds(5),
            receiver: .program([InterpolatedText(value: "/nowhere/program", template: "${FOLDER}/program")]))
        let outcome = try await HookSender(webhooks: webhooks, clock: SystemClock(), redact: Self.redact).send(
            Self.event, to: hook)
        try await webhooks.shutdown()
        #expect(outcome == .failed("${FOLDER}/program cannot be started: No such file or directory"))
    }

    @Test func aCancelledRunKillsTheProgram() async throws {
        try await withTemporaryFolder { (folder) async throws in
            let path = try folder.write("#!/bin/sh\necho $$ > '\(folder.path)/pid'\nexec sleep 1000\n", to: "notify")
            let hook = HookDeclaration(
                name: "h", events: [.changed], sources: [], after: .zero, rows: 100, timeout: .seconds(500),
                receiver: .program([InterpolatedText("/bin/sh"), InterpolatedText(path)]))
            let webhooks = WebhookClient()
            let sending = Task {
                try await HookSender(webhooks: webhooks, clock: SystemClock(), redact: Self.redact).send(
                    Self.event, to: hook)
            }
            while !FileManager.default.fileExists(atPath: folder.file("pid")) {
                try await Task.sleep(for: .milliseconds(2))
            }
            sending.cancel()
            do {
                let outcome = try await sending.value
                Issue.record("\(outcome)")
            } catch {
                #expect(error is CancellationError)
            }
            try await webhooks.shutdown()
        }
    }
}
