import GRDBSQLite

/// SQLite's functions of dates and times, without those uses of theirs that depend on the moment or on the machine's time
/// zone.
enum TimeFunctions {
    static let names = ["date", "time", "datetime", "julianday", "unixepoch", "strftime", "timediff"]
}

extension FunctionCall {
    /// Words for which SQLite takes the present time instead of one that is given.
    private static let present: Set<String> = ["now", "subsec", "subsecond"]
    private static let zones: Set<String> = ["localtime", "utc"]

    func time(_ name: String) {
        let times = name == "strftime" ? 1..<2 : 0..<(name == "timediff" ? 2 : 1)
        guard arguments.count >= times.upperBound else {
            return failByDeclaration("\(name)() without a time is the present, \(Self.reason)")
        }
        for index in arguments.indices where sqlite3_value_type(arguments[index]) == SQLITE_TEXT {
            // Longer texts are none of these words.
            guard let text = text(index), text.count <= 9 else { continue }
            let word = String(decoding: text, as: UTF8.self).lowercased()
            if times.contains(index), Self.present.contains(word) {
                return failByDeclaration("'\(word)' is the present, \(Self.reason)")
            }
            if index >= times.upperBound, Self.zones.contains(word) {
                return failByDeclaration("'\(word)' is the machine's time zone, \(Self.reason)")
            }
        }
        functions.native.compute(name, self)
    }

    private static let reason = "and the same record must always give the same row"
}
