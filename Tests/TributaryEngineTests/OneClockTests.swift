import Foundation
import Testing

/// The engine asks one clock, sleeps by it, and draws from one source of random numbers: with others in their places, a
/// simulator repeats whole runs. What is forbidden elsewhere stands in one file of each target.
@Suite struct OneClockTests {
    private static let allowed = [
        "TributaryEngine": "Machine/SystemMachine.swift",
        "FeedFetching": "Network.swift",
    ]

    private static let forbidden = [
        #"\bDate\(\)"#, #"\bDate\.now\b"#, #"\.timeIntervalSinceNow\b"#, #"\bContinuousClock\b"#,
        #"\bSuspendingClock\b"#, #"\bTask\.sleep\b"#, #"\bTask\.yield\b"#, #"\bDispatchTime\b"#,
        #"\bDispatchWallTime\b"#, #"\bNIODeadline\b"#, #"\basyncAfter\b"#, #"\bmakeTimerSource\b"#,
        #"\bclock_gettime\b"#, #"\bgettimeofday\b"#, #"\btime\(nil\)"#, #"\busleep\b"#, #"\bnanosleep\b"#,
        #"\bSystemRandomNumberGenerator\b"#, #"\bgetrandom\b"#, #"\barc4random"#, #"\bUUID\(\)"#,
        #"\bDispatchQueue\.global\b"#, #"\bdetachNewThread\b"#, #"\bThread\.sleep\b"#,
    ]

    @Test(arguments: allowed.keys.sorted())
    func nothingElseAsksForTheTimeOrDraws(_ target: String) throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Sources/\(target)").standardizedFileURL
        let paths = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        #expect(paths.contains(try #require(Self.allowed[target])))
        let patterns = try Self.forbidden.map { try Regex($0) }
        for path in paths.sorted() where path != Self.allowed[target] {
            let text = try String(contentsOf: folder.appendingPathComponent(path), encoding: .utf8)
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
                let code = line.drop { $0 == " " }
                guard !code.hasPrefix("//") else { continue }
                for (pattern, written) in zip(patterns, Self.forbidden) where code.contains(pattern) {
                    Issue.record("Sources/\(target)/\(path):\(index + 1) has \(written): \(code)")
                }
            }
        }
    }
}
