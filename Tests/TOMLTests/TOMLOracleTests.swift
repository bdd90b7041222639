import FeedConfiguration
import TOMLKit
import Testing

/// What our reader accepts, TOMLKit reads to the same values. TOMLKit 0.6 reads TOML 1.0: what only TOML 1.1 allows is
/// compared with the same document in the spelling of TOML 1.0.
@Suite struct TOMLOracleTests {
    @Test func theSameValuesInBothSpellings() throws {
        for seed in 1...500 as ClosedRange<UInt64> {
            let text = RandomDocument(seed: seed).text
            let theirs = try TOMLKit.TOMLTable(string: text.old)
            for spelling in [text.old, text.new] {
                let ours = try TOMLParser.parse(spelling)
                #expect(difference(.table(ours), theirs) == nil, "seed \(seed):\n\(spelling)")
            }
        }
    }

    /// Documents with a random mistake, most of which are no TOML any more. TOMLKit is not asked for these: it ends the
    /// process for some, such as `[#x]`.
    @Test func theSameValuesOfWhatIsStillTOML() throws {
        let pieces = [
            "", "", "[", "]", "{", "}", ",", ".", "=", "\"", "'", "\\", "\n", " ", "#", "0", "_", "-", "e5", "k0",
            "[t0]\n",
        ]
        var compared = 0
        for seed in 1...3_000 as ClosedRange<UInt64> {
            var random = RandomNumbers(seed: seed)
            var text = Array(RandomDocument(seed: 1 + seed % 100).text.old.unicodeScalars)
            let start = random.next(text.count)
            text.replaceSubrange(
                start..<min(text.count, start + random.next(4)), with: random.one(of: pieces).unicodeScalars)
            let document = String(String.UnicodeScalarView(text))
            guard let ours = try? TOMLParser.parse(document) else { continue }
            do {
                let theirs = try TOMLKit.TOMLTable(string: document)
                #expect(difference(.table(ours), theirs) == nil, "seed \(seed):\n\(document)")
                compared += 1
            } catch {
                #expect(isNew(document), "seed \(seed): \(error)\n\(document)")
            }
        }
        #expect(compared > 300)
    }

    /// Returns true where a document may have something that only TOML 1.1 allows.
    private func isNew(_ document: String) -> Bool {
        document.contains(/\\e|\\x|\d\d:\d\d(?!:)|\{[^{}]*[\n#]|\{[^{]*\n|,\s*\}/)
    }

    /// Returns the first difference; nil where the values are the same.
    private func difference(_ ours: FeedConfiguration.TOMLValue, _ theirs: any TOMLValueConvertible) -> String? {
        switch ours {
        case .string(let text): return theirs.string == text ? nil : "\(text) is \(theirs.debugDescription)"
        case .integer(let number): return theirs.int == number ? nil : "\(number) is \(theirs.debugDescription)"
        case .boolean(let flag): return theirs.bool == flag ? nil : "\(flag) is \(theirs.debugDescription)"
        case .float(let number):
            return theirs.double.map { $0 == number || $0.isNaN && number.isNaN } ?? false
                ? nil : "\(number) is \(theirs.debugDescription)"
        case .date(let text):
            let shown = shown(theirs)
            return shown == normal(text) ? nil : "\(text) is \(shown ?? theirs.debugDescription)"
        case .array(let nodes):
            guard let array = theirs.array, array.count == nodes.count else {
                return "\(ours) is \(theirs.debugDescription)"
            }
            return zip(nodes, array).lazy.compactMap { difference($0.value, $1) }.first
        case .table(let table):
            guard let other = theirs.table, Set(other.keys) == Set(table.keys) else {
                return "\(table.keys) is \(theirs.table?.keys ?? [])"
            }
            return table.entries.lazy.compactMap { entry in
                guard let value = other[entry.key] else { return "\(entry.key) is missing" }
                return difference(entry.node.value, value).map { "\(entry.key): \($0)" }
            }.first
        }
    }

    /// Writes a date of TOMLKit's.
    private func shown(_ value: any TOMLValueConvertible) -> String? {
        if let date = value.date { return shown(date) }
        if let time = value.time { return shown(time) }
        guard let both = value.dateTime else { return nil }
        guard let offset = both.offset?.offset else { return "\(shown(both.date))T\(shown(both.time))" }
        let zone = (offset < 0 ? "-" : "+") + digits(abs(offset) / 60) + ":" + digits(abs(offset) % 60)
        return "\(shown(both.date))T\(shown(both.time))" + (offset == 0 ? "Z" : zone)
    }

    private func shown(_ date: TOMLDate) -> String {
        "\(digits(date.year, 4))-\(digits(date.month))-\(digits(date.day))"
    }

    private func shown(_ time: TOMLTime) -> String {
        "\(digits(time.hour)):\(digits(time.minute)):\(digits(time.second)).\(digits(time.nanoSecond, 9))"
    }

    private func digits(_ number: Int, _ count: Int = 2) -> String {
        String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }

    /// Writes a date of ours with nine digits after the seconds, and with Z for no offset.
    private func normal(_ text: String) -> String {
        let text = text.uppercased().replacing(" ", with: "T")
        guard let parts = text.wholeMatch(of: /(.*:\d\d:\d\d)(?:\.(\d+))?(|Z|[+-]\d\d:\d\d)/)?.output else {
            return text
        }
        let fraction = (parts.2 ?? "").prefix(9)
        let zone = ["+00:00", "-00:00"].contains(parts.3) ? "Z" : parts.3
        return "\(parts.1).\(fraction)" + String(repeating: "0", count: 9 - fraction.count) + zone
    }
}
