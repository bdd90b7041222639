/// Reads the parts of a file of tzdata one after another (RFC 8536, section 3).
struct TimeZoneFileReader {
    struct Header {
        var version: UInt8
        var universal, standard, leaps, times, types, characters: Int

        /// The bytes of a block with times of this many bytes each.
        func size(ofTimes bytes: Int) -> Int {
            times * (bytes + 1) + types * 6 + characters + leaps * (bytes + 4) + standard + universal
        }

        /// The bytes of a block after its types.
        var sizeOfRest: Int { characters + leaps * 12 + standard + universal }
    }

    private let file: [UInt8]
    private var place = 0

    init(_ file: [UInt8]) { self.file = file }

    mutating func bytes(_ count: Int) throws(TimeZoneRules.Damage) -> ArraySlice<UInt8> {
        guard count >= 0, count <= file.count - place else { throw TimeZoneRules.Damage() }
        defer { place += count }
        return file[place..<place + count]
    }

    mutating func skip(_ count: Int) throws(TimeZoneRules.Damage) { _ = try bytes(count) }

    /// Returns a number in two's complement, the highest byte first.
    mutating func integer(bytes count: Int) throws(TimeZoneRules.Damage) -> Int {
        let bits = try bytes(count).reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        let unused = 64 - 8 * count
        return Int(Int64(bitPattern: bits << unused) >> unused)
    }

    mutating func header() throws(TimeZoneRules.Damage) -> Header {
        guard try bytes(4).elementsEqual("TZif".utf8) else { throw TimeZoneRules.Damage() }
        let version = try bytes(1).first ?? 0
        try skip(15)
        var counts: [Int] = []
        for _ in 0..<6 {
            let count = try integer(bytes: 4)
            guard (0...file.count).contains(count) else { throw TimeZoneRules.Damage() }
            counts.append(count)
        }
        return Header(
            version: version, universal: counts[0], standard: counts[1], leaps: counts[2], times: counts[3],
            types: counts[4], characters: counts[5])
    }

    /// Returns the text between the line feeds at the end of the file (section 3.3).
    mutating func footer() throws(TimeZoneRules.Damage) -> String {
        guard try bytes(1).first == UInt8(ascii: "\n"), let end = file[place...].firstIndex(of: UInt8(ascii: "\n"))
        else { throw TimeZoneRules.Damage() }
        return String(decoding: try bytes(end - place), as: UTF8.self)
    }
}
