import FeedModel
import Foundation
import TestEngine
import Testing

@testable import TributaryEngine
@testable import FeedConfiguration

/// What is told of a run, and the declaration of hooks.
@Suite struct HookDecisionTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    private func hook(_ events: Set<HookEventKind>, after: Duration = .seconds(3600)) -> HookDeclaration {
        HookDeclaration(
            name: "h", events: events, sources: [], after: after, rows: 100, timeout: .seconds(5),
            receiver: .program([InterpolatedText("true")]))
    }

    /// What is told of runs, one after the other.
    private func told(
        _ runs: [RunReport], _ hook: HookDeclaration, knowing memory: HookMemory = HookMemory()
    ) -> [String] {
        var memory = memory
        var told: [String] = []
        for (index, report) in runs.enumerated() {
            let run = ChangelogRun(position: RunPosition(run: Int64(index)), report: report, changes: nil)
            var step = 1
            while let next = HookDecision.next(of: run, from: step, memory, hook) {
                if next.isSent { told.append("\(index) \(next.step)") }
                memory = next.memory
                step = next.step.rawValue + 1
            }
        }
        return told
    }

    private func report(
        _ outcome: RunOutcome, after minutes: Double, failingFor: Double? = nil, inserted: Int = 0
    ) -> RunReport {
        var report = RunReport(source: "s", outcome: outcome, startedAt: Self.start + minutes * 60)
        report.counts.inserted = inserted
        report.failingSince = failingFor.map { report.startedAt - $0 * 60 }
        return report
    }

    @Test func aFailureIsToldOnceItIsOldEnough() {
        let runs = [
            report(.discarded, after: 0, failingFor: 0), report(.discarded, after: 30, failingFor: 30),
            report(.discarded, after: 61, failingFor: 61), report(.discarded, after: 90, failingFor: 90),
            report(.cancelled, after: 100, failingFor: 100),
            report(.committed, after: 120, failingFor: 120, inserted: 1),
            report(.unchanged, after: 130),
        ]
        #expect(told(runs, hook([.failing, .recovered, .changed])) == ["2 failing", "5 recovered", "5 changed"])
        #expect(told(runs, hook([.recovered])) == ["5 recovered"])
        #expect(told(runs, hook([.failing, .recovered], after: .seconds(86_400))).isEmpty)
        // Due between two runs, the second of which is good.
        let short = [report(.discarded, after: 0, failingFor: 0), report(.unchanged, after: 63, failingFor: 63)]
        #expect(told(short, hook([.failing, .recovered])) == ["1 failing", "1 recovered"])
    }

    @Test func whatIsBlockedIsToldOnceUntilARunIsGood() {
        let runs = [
            report(.blocked, after: 0, failingFor: 0),
            report(.blocked, after: 9, failingFor: 9),
            report(.committed, after: 12, failingFor: 12, inserted: 2),
            report(.blocked, after: 20, failingFor: 0),
        ]
        #expect(told(runs, hook([.blocked])) == ["0 blocked", "3 blocked"])
        #expect(told(runs, hook([.changed])) == ["2 changed"])
    }

    /// A replay and an undo ask no server, so they say nothing of whether it answers again. After a purge there is no
    /// source of which to say it.
    @Test func whatAsksNoServerIsNoRecovery() {
        func run(_ kind: RunKind, after minutes: Double) -> RunReport {
            var run = report(.committed, after: minutes, failingFor: 10, inserted: 1)
            run.kind = kind
            return run
        }
        let failing = report(.discarded, after: 1, failingFor: 61)
        let end = report(.unchanged, after: 40, failingFor: 100)
        let all = hook([.failing, .recovered, .changed])
        for kind in [RunKind.replay, .undo] {
            let runs = [failing, run(kind, after: 20), end]
            #expect(told(runs, all) == ["0 failing", "1 changed", "2 recovered"])
        }
        let purged = [failing, run(.purge, after: 20), report(.unchanged, after: 40)]
        #expect(told(purged, all) == ["0 failing", "1 changed"])
        // It is not the run that has failed for so long.
        var replayed = run(.replay, after: 20)
        replayed.failingSince = Self.start - 7200
        #expect(told([replayed], all) == ["0 changed"])
    }

    @Test func aGoodRunEndsWhatIsStale() {
        let runs = [
            report(.discarded, after: 10, failingFor: 5), report(.unchanged, after: 40),
            report(.unchanged, after: 50),
        ]
        let stale = HookMemory(isStale: true)
        #expect(told(runs, hook([.stale, .recovered]), knowing: stale) == ["1 recovered"])
        #expect(told(runs, hook([.stale]), knowing: stale).isEmpty)
        #expect(told(runs, hook([.stale, .recovered])).isEmpty)
        let purged = {
            var run = report(.committed, after: 1)
            run.kind = .purge
            return [run, report(.unchanged, after: 2)]
        }
        #expect(told(purged(), hook([.stale, .recovered]), knowing: stale).isEmpty)
    }

    @Test func waitsGrowToAnHour() {
        let waits = (1...4).map { HookDecision.wait(attempts: $0, jitter: 0.5) }
        #expect(waits == [2, 4, 8, 16])
        #expect(HookDecision.wait(attempts: 1_000, jitter: 0) == 2880)
        #expect(HookDecision.wait(attempts: 1_000, jitter: 1).rounded() == 4320)
    }

    @Test func starsAndQuestionMarksStandForOthers() {
        for (name, pattern, expected) in [
            ("shop-1", "shop*", true), ("shop", "shop*", true), ("my-shop", "shop*", false),
            ("a-shop-b", "*shop*", true),
            ("abc", "a?c", true), ("ac", "a?c", false), ("aXbXc", "a*X*c", true), ("s", "", false),
            ("aaab", "*ab", true),
        ] {
            #expect(HookDeclaration.matches(name, pattern) == expected, "\(name) \(pattern)")
        }
    }

    @Test func mistakesAreReported() async throws {
        let source = HookFixture.mapping()
        for (hook, expected) in [
            (
                "post = \"https://a.example/\"",
                "'on' is missing; name the events that the hook receives: changed, failing"
            ),
            ("on = [\"change\"]\nrun = [\"true\"]", "hooks.h.on[1]: expected one of changed, "),
            ("on = [\"change\"]\nrun = [\"true\"]", "did you mean 'changed'?"),
            ("on = [\"test\"]\nrun = [\"true\"]", ", found 'test'"),
            ("on = []\nrun = [\"true\"]", "never receive an event"),
            ("on = [\"blocked\"]", "the hook has no receiver"),
            ("on = [\"blocked\"]\nvalues = true\nrun = [\"true\"]", "values: requires \"changed\" in 'on'"),
            ("on = [\"blocked\"]\nrun = []", "the program is missing"),
            ("on = [\"blocked\"]\nrun = \"true\"", "expected an array of strings"),
            ("on = [\"blocked\"]\nrun = [\"true\"]\npost = \"https://a.example/\"", "give only one"),
            (
                "on = [\"blocked\"]\nrun = [\"true\"]\nsecret = \"\(HookFixture.secret)\"",
                "secret: requires 'post': only what is posted is signed"
            ),
            ("on = [\"blocked\"]\npost = \"ftp://a.example/\"", "cannot be used"),
            ("on = [\"blocked\"]\npost = \"https://a.example/${row:id}\"", "has a value only when a request is sent"),
            ("on = [\"blocked\"]\npost = \"https://a.example/\"\nsecret = \"whsec_short\"", "a secret is \"whsec_\""),
            ("on = [\"blocked\"]\nrun = [\"true\"]\nsources = [\"t*\"]", "no source is called 't*'"),
            ("on = [\"blocked\"]\nrun = [\"true\"]\nrow = 1", "did you mean 'rows'?"),
            ("on = [\"blocked\"]\nrun = [\"true\"]\nrows = 100000", "at most 10000"),
            ("on = [\"blocked\"]\nrun = [\"true\"]\ntimeout = \"11m\"", "from \"1ms\" to \"10m\""),
            ("on = [\"blocked\"]\nrun = [\"${NOT_SET_ANYWHERE}\"]", "'NOT_SET_ANYWHERE' is not set"),
            ("on = [\"blocked\"]\nrun = [\"${env:X}\"]", "'env:' is unknown; write ${NAME}"),
        ] {
            try await EngineFixture.expectMistake(source + "[hooks.h]\n" + hook + "\n", expected)
        }
        try await EngineFixture.expectMistake(source + "[hook.h]\non = []\n", "did you mean 'hooks'?")
    }
}
