import FeedModel

/// One of the five fields of a line of cron: which numbers it may have, and how they are written (crontab(5)).
package struct CronField {
    private var name: String
    private var range: ClosedRange<Int>
    /// The names that stand for the first numbers of `names`'s range.
    private var names: [String] = []
    private var firstNamed = 0

    static let minute = CronField(name: "minute", range: 0...59)
    static let hour = CronField(name: "hour", range: 0...23)
    static let day = CronField(name: "day of the month", range: 1...31)
    static let month = CronField(
        name: "month", range: 1...12,
        names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"], firstNamed: 1)
    /// Sunday is 0 and 7.
    static let weekday = CronField(
        name: "day of the week", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])

    /// Returns the numbers that a field has, as bits: a list of `*`, numbers and ranges, each with a step or without.
    func bits(_ text: Substring) throws(Finding) -> UInt64 {
        var bits: UInt64 = 0
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let (numbers, step) = try range(part)
            for number in stride(from: numbers.lowerBound, through: numbers.upperBound, by: step) {
                bits |= 1 << number
            }
        }
        return bits
    }

    private func range(_ part: Substring) throws(Finding) -> (ClosedRange<Int>, step: Int) {
        let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = pieces.first else { throw problem(part, "it is empty") }
        var step = 1
        if pieces.count == 2 {
            guard let number = Self.number(pieces[1]), number > 0 else {
                throw problem(part, "a step is a number above 0, as in */15")
            }
            // Every step is as good as the first that leads out of the range.
            step = min(number, 100)
        }
        if first == "*" {
            // Seven is Sunday once more.
            return (range.upperBound == 7 ? 0...6 : range, step)
        }
        let ends = first.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        let low = try value(ends[0], in: part)
        guard ends.count == 2 else {
            guard pieces.count == 1 else {
                throw problem(part, "a step needs a range", help: "write \(low)-\(range.upperBound)/\(step)")
            }
            return (low...low, 1)
        }
        var high = try value(ends[1], in: part)
        // Saturday to Sunday, written by their names.
        if range.upperBound == 7, high == 0, low > 0 { high = 7 }
        guard low <= high else {
            throw problem(
                part, "it runs backwards", help: "write \(low)-\(range.upperBound),\(range.lowerBound)-\(high)")
        }
        return (low...high, step)
    }

    private func value(_ text: Substring, in part: Substring) throws(Finding) -> Int {
        if let index = names.firstIndex(of: text.lowercased()) { return index + firstNamed }
        guard let number = Self.number(text), range.contains(number) else {
            let orName = names.isEmpty ? "" : ", or \(names[0]) to \(names[names.count - 1])"
            throw problem(part, "expected \(range.lowerBound) to \(range.upperBound)\(orName)")
        }
        return number
    }

    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) : nil
    }

    private func problem(_ part: Substring, _ message: String, help: String? = nil) -> Finding {
        Finding("'\(part)' is not a valid \(name): \(message)", help: help)
    }
}
