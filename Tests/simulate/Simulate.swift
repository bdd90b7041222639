import Foundation
import Simulator

/// Runs seeds, and prints what they find.
///
///     simulate [--seeds N] [--first SEED] [--minutes N] [--jobs N] [--doublecheck] [--trace] [--without SITE,…] [--no-shrink]
///     simulate --power-failures N [--first SEED] [--jobs N] [--no-shrink]
///     simulate --shrink SEED [--without SITE,…]
///     simulate --find SITE
///
/// `TRIBUTARY_SEED=SEED simulate [--only STEP,…]` replays one seed, with its trace.
@main struct Simulate {
    private var seeds: Int?
    private var first: UInt64 = 1
    private var end: Double?
    private var doublechecks = false
    private var showsTrace = false
    private var except: Set<FaultSite> = []
    /// A fault of which an example is sought.
    private var sought: FaultSite?
    private var shrinks = true
    /// The seed of which the fewest steps are sought; nil to run seeds.
    private var shrunk: UInt64?
    /// The steps that may be taken; nil for all.
    private var only: Set<String>?
    /// The file that gets the steps and what was found, for the process that seeks the fewest.
    private var record: String?
    /// The power failures after which no further seed is run; nil where the power fails as rarely as other things.
    private var powerFailures: Int?
    /// The processes at a time.
    private var jobs = ProcessInfo.processInfo.activeProcessorCount
    /// The folder of a process that runs a few seeds for another one.
    private var block: String?
    private var isReplay = false
    private var counts = Blocks.Counts()

    static func main() {
        // Hash tables are in the same order each time only where the process was started so.
        guard getenv("SWIFT_DETERMINISTIC_HASHING") != nil else {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            var pointers = CommandLine.arguments.map { strdup($0) } + [nil]
            execv("/proc/self/exe", &pointers)
            fail("it cannot start itself: \(String(cString: strerror(errno)))")
        }
        var files = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        files.rlim_cur = files.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &files)
        var simulate = Simulate()
        simulate.read(Array(CommandLine.arguments.dropFirst()))
        if let seed = simulate.shrunk {
            exit(Shrinker(seed: seed, conditions: simulate.conditions, say: simulate.say).run() ? 0 : 1)
        }
        do {
            exit(try (simulate.isReplay || simulate.block != nil ? simulate.runHere() : simulate.run()) ? 0 : 1)
        } catch {
            fail("\(error)")
        }
    }

    /// Prints a line at once, as the process may be killed by what it finds.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Returns a folder for stores, in memory where there is such a place.
    static func folder(_ name: String) -> String {
        let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        return parent + "/tributary-simulate-" + name
    }

    private static func fail(_ message: String) -> Never {
        FileHandle.standardError.write(Data("simulate: \(message)\n".utf8))
        exit(64)
    }

    private static func site(_ name: String) -> FaultSite {
        guard let site = FaultSite(rawValue: name) else { fail("there is no fault '\(name)'") }
        return site
    }

    private mutating func read(_ arguments: [String]) {
        var rest = arguments[...]
        func number<Number: LosslessStringConvertible>(_ option: String) -> Number {
            guard let text = rest.popFirst(), let number = Number(text) else { Self.fail("\(option) needs a number") }
            return number
        }
        while let option = rest.popFirst() {
            switch option {
            case "--seeds": seeds = number(option)
            case "--first": first = number(option)
            case "--minutes": end = Date().timeIntervalSince1970 + 60 * number(option)
            case "--power-failures": powerFailures = number(option)
            case "--jobs": jobs = max(1, number(option))
            case "--block": block = rest.popFirst()
            case "--doublecheck": doublechecks = true
            case "--trace": showsTrace = true
            case "--no-shrink": shrinks = false
            case "--shrink": shrunk = number(option)
            case "--record": record = rest.popFirst()
            case "--only":
                let text = rest.popFirst() ?? ""
                let names =
                    text.hasPrefix("@") ? try? String(contentsOfFile: String(text.dropFirst()), encoding: .utf8) : text
                only = Set((names ?? "").split { $0 == "," || $0 == "\n" }.map(String.init))
            case "--without":
                except = Set((rest.popFirst() ?? "").split(separator: ",").map { Self.site(String($0)) })
            case "--find": sought = Self.site(rest.popFirst() ?? "")
            default: Self.fail("unknown option \(option)")
            }
        }
        guard block == nil, let text = getenv("TRIBUTARY_SEED").map({ String(cString: $0) }) else { return }
        guard let seed = UInt64(text) else { Self.fail("TRIBUTARY_SEED is no number: \(text)") }
        (first, seeds, showsTrace, isReplay) = (seed, 1, true, true)
    }

    /// Runs the seeds in other processes.
    ///
    /// - Returns: false where something was found.
    private func run() throws -> Bool {
        let isLimited = seeds != nil || end != nil || powerFailures != nil
        var blocks = Blocks(
            first: first, seeds: seeds ?? (isLimited ? .max : 500), end: end, powerFailures: powerFailures, jobs: jobs,
            arguments: conditions + (doublechecks ? ["--doublecheck"] : []) + (showsTrace ? ["--trace"] : [])
                + (only.map { ["--only", $0.sorted().joined(separator: ",")] } ?? []), say: say)
        try blocks.run()
        guard let failure = blocks.failure else {
            let counts = blocks.counts
            let power = powerFailures == nil ? "" : "\(counts.powerFailures) power failures, "
            say(
                "\(counts.seeds) seeds, \(counts.runs) runs, \(power)\(Int(counts.hours)) hours simulated; nothing found"
            )
            return true
        }
        for line in failure.lines { say(line) }
        if shrinks, failure.isFinding { return Shrinker(seed: failure.seed, conditions: conditions, say: say).run() }
        return false
    }

    /// Runs the seeds in this process.
    ///
    /// - Returns: false where something was found.
    private mutating func runHere() -> Bool {
        for seed in first..<first &+ UInt64(seeds ?? 1) {
            if block != nil { say("@begins \(seed)") }
            guard check(seed) else { return false }
        }
        if block != nil { say(counts.line) }
        return true
    }

    /// The arguments on which depends what a seed does.
    private var conditions: [String] {
        (except.isEmpty ? [] : ["--without", except.map(\.rawValue).sorted().joined(separator: ",")])
            + (sought.map { ["--find", $0.rawValue] } ?? [])
            + (powerFailures.map { ["--power-failures", "\($0)"] } ?? [])
    }

    /// - Returns: false where something was found.
    private mutating func check(_ seed: UInt64) -> Bool {
        let result = simulate(seed)
        counts.seeds += 1
        counts.runs += result.runs
        counts.powerFailures += result.powerFailures
        counts.hours += Double(result.time.components.seconds) / 3600
        if let finding = result.finding {
            record(["found \(finding.rule.rawValue) \(finding.text)", "faults \(result.faults)"])
            say("seed \(seed) \(finding.rule.rawValue) \(finding.text)")
            say("faults: \(result.faults)")
            say("commit: \(Self.commit)")
            say((["replay: TRIBUTARY_SEED=\(seed) Scripts/simulate"] + conditions).joined(separator: " "))
            if block != nil { say("@found") }
            return false
        }
        if showsTrace { say("seed \(seed): digest \(String(result.digest, radix: 16)), \(result.pieces) pieces") }
        guard doublechecks else { return true }
        let again = simulate(seed)
        guard again.digest != result.digest || again.pieces != result.pieces else { return true }
        say("seed \(seed) is not the same when it is run again: real time or chance leaks into it")
        for (index, digest) in result.trace.digests.enumerated()
        where index >= again.trace.digests.count || again.trace.digests[index] != digest {
            say("first:  \(result.trace.lines[index])")
            say("second: \(index < again.trace.lines.count ? again.trace.lines[index] : "-")")
            break
        }
        return false
    }

    private func simulate(_ seed: UInt64) -> SimulationResult {
        let folder = block.map { "\($0)/\(seed)" } ?? Self.folder("\(getpid())")
        try? FileManager.default.removeItem(atPath: folder)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let steps = Steps(
            only: only, onStep: record.map { _ in { step in self.record(["step \(step.name) \(step)"]) } })
        return Simulation(
            seed: seed, in: folder, except: except, sought: sought, losesPower: powerFailures != nil, steps,
            show: showsTrace ? { say($0) } : nil
        ).run()
    }

    /// Writes lines at once, as the process may be killed by what it does next.
    private func record(_ lines: [String]) {
        guard let record, let file = fopen(record, "a") else { return }
        fputs(lines.map { $0.replacingOccurrences(of: "\n", with: " ") + "\n" }.joined(), file)
        fclose(file)
    }

    /// The commit that was built, where `Scripts/simulate` says so.
    private static var commit: String { getenv("TRIBUTARY_COMMIT").map { String(cString: $0) } ?? "unknown" }
}
