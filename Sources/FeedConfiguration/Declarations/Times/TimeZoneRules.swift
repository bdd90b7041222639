/// How far a time zone's clocks are from UTC, and when that changes, as the files of tzdata say it (RFC 8536).
///
/// Foundation's `TimeZone` knows no zone in a program that is linked statically, and would not see an update of tzdata.
package struct TimeZoneRules: Sendable, Hashable {
    /// A file is not what RFC 8536 describes, or counts leap seconds.
    package struct Damage: Error {
        package var countsLeapSeconds = false
    }

    /// When each offset begins, in seconds since 1970, and the offset, in seconds east of UTC.
    private var starts: [Int] = []
    private var offsets: [Int] = []
    /// The offset before the first of them.
    private var first = 0
    /// The rule for the time after the last of them.
    private var rest: RepeatedZone?

    package static let utc = TimeZoneRules()

    private init() {}

    /// - Parameter file: the bytes of a file of tzdata.
    package init(file: [UInt8]) throws(Damage) {
        var reader = TimeZoneFileReader(file)
        var header = try reader.header()
        // The first block has times of 32 bits, for programs that know no others.
        guard header.version >= UInt8(ascii: "2") else { throw Damage() }
        try reader.skip(header.size(ofTimes: 4))
        header = try reader.header()
        guard header.leaps == 0 else { throw Damage(countsLeapSeconds: true) }
        guard header.types > 0 else { throw Damage() }
        for _ in 0..<header.times { starts.append(try reader.integer(bytes: 8)) }
        let indexes = try reader.bytes(header.times)
        var types: [Int] = []
        for _ in 0..<header.types {
            types.append(try reader.integer(bytes: 4))
            try reader.skip(2)
        }
        guard indexes.allSatisfy({ $0 < types.count }), types.allSatisfy({ abs($0) < 26 * 3600 }),
            zip(starts, starts.dropFirst()).allSatisfy(<)
        else { throw Damage() }
        offsets = indexes.map { types[Int($0)] }
        first = types[0]
        try reader.skip(header.sizeOfRest)
        let footer = try reader.footer()
        if !footer.isEmpty {
            guard let rule = RepeatedZone(footer) else { throw Damage() }
            rest = rule
        }
    }

    /// Returns the seconds east of UTC at a moment.
    package func offset(at moment: Int) -> Int {
        guard let last = starts.last else { return rest?.offset(at: moment) ?? first }
        if moment >= last { return rest?.offset(at: moment) ?? offsets[offsets.count - 1] }
        let later = starts.indices.firstSorted { starts[$0] > moment }
        return later == 0 ? first : offsets[later - 1]
    }

    /// Returns the first moment after another at which the clocks change; nil if they never do again. A change may
    /// leave the time as it is.
    package func change(after moment: Int) -> Int? {
        let later = starts.indices.firstSorted { starts[$0] > moment }
        return later < starts.count ? starts[later] : rest?.change(after: moment)
    }

    /// Returns the moment at which the clocks on the wall show a time: the first of two, or the end of the gap in which
    /// it is skipped.
    ///
    /// - Parameter time: the seconds from the beginning of 1970 by those clocks.
    package func instant(ofLocal time: Int) -> Int {
        let near = offsets(near: time)
        if let moment = moment(showing: time, near) { return moment }
        // The clocks pass the time at the end of the gap.
        let moments = time - near.reduce(near[0], max)..<time - near.reduce(near[0], min) + 1
        return moments.firstSorted { $0 + offset(at: $0) > time }
    }

    /// Returns the moment at which the clocks on the wall show a time: the first of two. One that is skipped moves forward
    /// by the gap, as the clocks do.
    ///
    /// - Parameter time: the seconds from the beginning of 1970 by those clocks.
    package func instant(ofWritten time: Int) -> Int {
        let near = offsets(near: time)
        return moment(showing: time, near) ?? time - near[0]
    }

    /// Returns the offsets before, about and after a time. No clock is further from UTC than 26 hours, and none is set
    /// twice in three days.
    private func offsets(near time: Int) -> [Int] { [-36, 0, 36].map { offset(at: time + $0 * 3600) } }

    private func moment(showing time: Int, _ near: [Int]) -> Int? {
        near.map { time - $0 }.filter { $0 + offset(at: $0) == time }.min()
    }
}

extension Range<Int> {
    /// Returns the first number with a condition that all numbers behind it have, too; the end if none has it.
    func firstSorted(where condition: (Int) -> Bool) -> Int {
        var (low, high) = (lowerBound, upperBound)
        while low < high {
            let middle = low + (high - low) / 2
            if condition(middle) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
