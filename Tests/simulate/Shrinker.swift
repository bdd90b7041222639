import Foundation

/// Seeks the fewest steps of a seed with which the same rule is broken: it leaves out halves of them, then smaller parts, and
/// then one after another (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
///
/// Each try is a process of its own, as what is found may kill it.
struct Shrinker {
    private static let (mostTries, mostSeconds) = (600, 600.0)

    private struct Try {
        /// The names of the steps that were taken, in their order.
        var steps: [String] = []
        /// The same for people.
        var texts: [String] = []
        /// The rule that was broken; nil where nothing was found.
        var rule: String?
        var finding = ""
        var faults = ""
    }

    let seed: UInt64
    /// The arguments on which depends what the seed does.
    let conditions: [String]
    let say: (String) -> Void

    /// - Returns: false where something was found.
    func run() -> Bool {
        let start = Date().timeIntervalSince1970
        var best = attempt(nil)
        guard let rule = best.rule else {
            say("seed \(seed): nothing found")
            return true
        }
        let all = best.steps.count
        var tries = 1
        // Often none is needed at all.
        var size = all
        while size >= 1 {
            var (end, isShorter) = (best.steps.count, false)
            // What came last is the least likely to matter for what it led to.
            while end > 0 {
                guard tries < Self.mostTries, Date().timeIntervalSince1970 - start < Self.mostSeconds else {
                    say("there may be fewer: \(tries) tries were made")
                    return report(best, rule, all, tries)
                }
                var steps = best.steps
                steps.removeSubrange(max(0, end - size)..<end)
                tries += 1
                let next = attempt(steps)
                if next.rule == rule { (best, isShorter) = (next, true) }
                end = min(end - size, best.steps.count)
            }
            if size > 1 { size /= 2 } else if !isShorter { break }
        }
        return report(best, rule, all, tries)
    }

    private func report(_ best: Try, _ rule: String, _ all: Int, _ tries: Int) -> Bool {
        say("seed \(seed) \(rule) \(best.finding)")
        say("shortest: \(best.steps.count) of \(all) steps, after \(tries) tries")
        for text in best.texts { say("    " + text) }
        let options = (conditions + ["--only", "'\(best.steps.joined(separator: ","))'"]).joined(separator: " ")
        say("replay: TRIBUTARY_SEED=\(seed) Scripts/simulate \(options)")
        return false
    }

    private func attempt(_ only: [String]?) -> Try {
        let folder = Simulate.folder("shrink-\(getpid())")
        try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        var arguments = ["--first", "\(seed)", "--record", folder + "/record"] + conditions
        if let only {
            let file = folder + "/only"
            try? only.joined(separator: "\n").write(toFile: file, atomically: false, encoding: .utf8)
            arguments += ["--only", "@" + file]
        }
        let ending: Child.Ending
        do { ending = try Child(in: folder, arguments, output: "/dev/null").end() } catch {
            say("no process can be started: \(error)")
            exit(70)
        }
        var result = Try()
        for line in ((try? String(contentsOfFile: folder + "/record", encoding: .utf8)) ?? "").split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            guard words.count > 1 else { continue }
            switch words[0] {
            case "step":
                result.steps.append(words[1])
                result.texts.append(words.count > 2 ? words[2] : words[1])
            case "found":
                result.rule = words[1]
                result.finding = words.count > 2 ? words[2] : ""
            default: break
            }
        }
        if ending.status == nil {
            result.rule = "crash"
            result.finding = "the program is ended by signal \(ending.signal)"
        }
        return result
    }
}
