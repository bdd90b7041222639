import Foundation

/// An entry of a listing.
struct RemoteEntry: Equatable {
    var name: [UInt8]
    /// False for a folder, a link or a device.
    var mayBeFile = true
    var size: Int?
    /// The time of the last change, in seconds since 1970.
    var modified: Int?

    /// Reads a line that is only a name. Some servers write the folder before it.
    init(name: [UInt8]) { self.name = Array(name.split(separator: UInt8(ascii: "/")).last ?? []) }

    /// Reads a line of MLSD (RFC 3659, section 7.2): `type=file;size=25730;modify=19940728095854.1; cap.txt`.
    ///
    /// - Returns: nil for another line.
    init?(facts line: [UInt8]) {
        guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { return nil }
        self.init(name: Array(line[(space + 1)...]))
        var type: String?
        for fact in String(decoding: line[..<space], as: UTF8.self).split(separator: ";") {
            let parts = fact.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2 else { return nil }
            switch parts[0].lowercased() {
            case "type": type = parts[1].lowercased()
            case "size": size = Int(parts[1]).flatMap { $0 < 0 ? nil : $0 }
            case "modify": modified = Self.seconds(parts[1])
            default: break
            }
        }
        guard let type else { return nil }
        mayBeFile = type == "file"
    }

    /// Reads a line of `ls -l`, as SFTP servers send it: `-rw-r--r--    1 me users  5 Nov 24 11:18 a.xml`. Ignores its
    /// time, which has no zone and no seconds.
    ///
    /// - Returns: nil for another line.
    init?(line: [UInt8]) {
        // Latin-1 keeps every byte and its position.
        let text = String(String.UnicodeScalarView(line.map { Unicode.Scalar($0) }))
        let form =
            #/([-dlbcpsD])\S{9}\S?\s.*?\s(?:[A-Za-z]{3,9}\s+\d{1,2}|\d{1,2}\s+[A-Za-z]{3,9}|\d{4}-\d{2}-\d{2})\s+(?:\d{1,2}:\d{2}(?::\d{2})?|\d{4})\s(.+)/#
            .matchingSemantics(.unicodeScalar).dotMatchesNewlines()
        guard let match = try? form.wholeMatch(in: text) else { return nil }
        self.init(name: match.2.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
        mayBeFile = match.1 == "-"
    }

    /// Returns the time of a fact, `YYYYMMDDHHMMSS` with or without a fraction, in UTC.
    private static func seconds(_ text: Substring) -> Int? {
        let digits = text.prefix { $0 != "." }
        guard digits.utf8.count == 14, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        func number(_ start: Int, _ count: Int) -> Int {
            Int(digits.dropFirst(start).prefix(count)) ?? 0
        }
        var parts = tm()
        parts.tm_year = Int32(number(0, 4) - 1900)
        parts.tm_mon = Int32(number(4, 2) - 1)
        parts.tm_mday = Int32(number(6, 2))
        parts.tm_hour = Int32(number(8, 2))
        parts.tm_min = Int32(number(10, 2))
        parts.tm_sec = Int32(number(12, 2))
        return timegm(&parts)
    }
}
