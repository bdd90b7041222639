import Foundation
import Simulator

/// Runs seeds, and prints what they find.
///
///     simulate [--seeds N] [--first SEED] [--minutes N] [--doublecheck] [--trace] [--without SITE,…] [--no-shrink]
///     simulate --power-failures N [--first SEED] [--no-shrink]
///     simulate --shrink SEED [--without SITE,…]
///     simulate --find SITE
///
/// `TRIBUTARY_SEED=SEED simulate [--only STEP,…]` replays one seed, with its trace.
@main struct Simulate {
    /// The seeds after which the program starts itself anew: what killed processes have left is never freed.
    private static let seedsPerProcess = 40

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
    private var done = 0
    private var failed = 0
    private var runs = 0
    private var hours = 0.0

    static func main() {
        // Hash tables are in the same order each time only where the process was started so.
        guard getenv("SWIFT_DETERMINISTIC_HASHING") != nil else {
            setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
            restart(Array(CommandLine.arguments.dropFirst()))
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
        exit(simulate.run() ? 0 : 1)
    }

    private static func restart(_ arguments: [String]) -> Never {
        var pointers = ([CommandLine.arguments[0]] + arguments).map { strdup($0) } + [nil]
        execv("/proc/self/exe", &pointers)
        fail("it cannot start itself: \(String(cString: strerror(errno)))")
    }

    /// Prints a line at once, as the process may be killed by what it finds.
    private func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

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
            case "--until": end = number(option)
            case "--power-failures": powerFailures = number(option)
            case "--failed": failed = number(option)
            case "--done": done = number(option)
            case "--runs": runs = number(option)
            case "--hours": hours = number(option)
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
        guard let text = getenv("TRIBUTARY_SEED").map({ String(cString: $0) }) else { return }
        guard let seed = UInt64(text) else { Self.fail("TRIBUTARY_SEED is no number: \(text)") }
        (first, seeds, end, showsTrace, shrinks) = (seed, 1, nil, true, false)
    }

    private mutating func run() -> Bool {
        let seeds = seeds ?? (end == nil && powerFailures == nil ? 500 : .max)
        var here = 0
        while done < seeds, failed < powerFailures ?? .max, end.map({ Date().timeIntervalSince1970 < $0 }) ?? true {
            guard here < Self.seedsPerProcess else { restart(seeds) }
            guard check(first + UInt64(done)) else { return false }
            done += 1
            here += 1
        }
        let power = powerFailures == nil ? "" : "\(failed) power failures, "
        say("\(done) seeds, \(runs) runs, \(power)\(Int(hours)) hours simulated; nothing found")
        return true
    }

    private func restart(_ seeds: Int) -> Never {
        var arguments = ["--seeds", "\(seeds)", "--first", "\(first)", "--done", "\(done)", "--failed", "\(failed)"]
        arguments += ["--runs", "\(runs)", "--hours", "\(hours)"]
        if let end { arguments += ["--until", "\(end)"] }
        if doublechecks { arguments.append("--doublecheck") }
        if showsTrace { arguments.append("--trace") }
        if !shrinks { arguments.append("--no-shrink") }
        Self.restart(arguments + conditions)
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
        runs += result.runs
        failed += result.powerFailures
        hours += Double(result.time.components.seconds) / 3600
        if let finding = result.finding {
            record(["found \(finding.rule.rawValue) \(finding.text)", "faults \(result.faults)"])
            say("seed \(seed) \(finding.rule.rawValue) \(finding.text)")
            say("faults: \(result.faults)")
            say("commit: \(Self.commit)")
            say((["replay: TRIBUTARY_SEED=\(seed) Scripts/simulate"] + conditions).joined(separator: " "))
            guard shrinks else { return false }
            Self.restart(["--shrink", "\(seed)"] + conditions)
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
        let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let folder = parent + "/tributary-simulate-\(getpid())-\(seed)"
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
