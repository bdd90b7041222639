import Foundation
import Simulator

/// Runs seeds, and prints what they find.
///
///     simulate [--seeds N] [--first SEED] [--minutes N] [--doublecheck] [--trace] [--without SITE,…]
///
/// `TRIBUTARY_SEED=SEED simulate` replays one seed, with its trace.
@main struct Simulate {
    /// The seeds after which the program starts itself anew: what killed processes have left is never freed.
    private static let seedsPerProcess = 40

    private var seeds: Int?
    private var first: UInt64 = 1
    private var end: Double?
    private var doublechecks = false
    private var showsTrace = false
    private var except: Set<FaultSite> = []
    private var done = 0
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
            case "--done": done = number(option)
            case "--runs": runs = number(option)
            case "--hours": hours = number(option)
            case "--doublecheck": doublechecks = true
            case "--trace": showsTrace = true
            case "--without":
                let names = (rest.popFirst() ?? "").split(separator: ",").map(String.init)
                except = Set(
                    names.map { name in
                        guard let site = FaultSite(rawValue: name) else { Self.fail("there is no fault '\(name)'") }
                        return site
                    })
            default: Self.fail("unknown option \(option)")
            }
        }
        guard let text = getenv("TRIBUTARY_SEED").map({ String(cString: $0) }) else { return }
        guard let seed = UInt64(text) else { Self.fail("TRIBUTARY_SEED is no number: \(text)") }
        (first, seeds, end, showsTrace) = (seed, 1, nil, true)
    }

    private mutating func run() -> Bool {
        let seeds = seeds ?? (end == nil ? 500 : .max)
        var here = 0
        while done < seeds, end.map({ Date().timeIntervalSince1970 < $0 }) ?? true {
            guard here < Self.seedsPerProcess else { restart(seeds) }
            guard check(first + UInt64(done)) else { return false }
            done += 1
            here += 1
        }
        say("\(done) seeds, \(runs) runs, \(Int(hours)) hours simulated; nothing found")
        return true
    }

    private func restart(_ seeds: Int) -> Never {
        var arguments = ["--seeds", "\(seeds)", "--first", "\(first)", "--done", "\(done)"]
        arguments += ["--runs", "\(runs)", "--hours", "\(hours)"]
        if let end { arguments += ["--until", "\(end)"] }
        if doublechecks { arguments.append("--doublecheck") }
        if showsTrace { arguments.append("--trace") }
        if !except.isEmpty { arguments += ["--without", except.map(\.rawValue).sorted().joined(separator: ",")] }
        Self.restart(arguments)
    }

    /// - Returns: false where something was found.
    private mutating func check(_ seed: UInt64) -> Bool {
        let result = simulate(seed)
        runs += result.runs
        hours += Double(result.time.components.seconds) / 3600
        if let failure = result.failure {
            say("seed \(seed) \(failure)")
            say("faults: \(result.faults)")
            say("replay: TRIBUTARY_SEED=\(seed) Scripts/simulate")
            return false
        }
        if showsTrace { say("seed \(seed): digest \(String(result.digest, radix: 16)), \(result.steps) steps") }
        guard doublechecks else { return true }
        let again = simulate(seed)
        guard again.digest != result.digest || again.steps != result.steps else { return true }
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
        return Simulation(seed: seed, in: folder, except: except, show: showsTrace ? { say($0) } : nil).run()
    }
}
