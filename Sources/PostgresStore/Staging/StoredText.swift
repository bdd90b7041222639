import PostgresClient

/// PostgreSQL's texts of points in time, in the forms that others expect.
enum StoredText {
    /// `2026-11-21T08:30:00Z`, or `2026-11-21T08:30:00.500Z`, as mappings write times; with microseconds where a time has
    /// them.
    static func iso8601(_ text: String, hasZone: Bool) -> String {
        guard let parts = parts(of: text) else { return text }
        let zeros = String(repeating: "0", count: max(0, 3 - parts.fraction.count))
        let fraction = parts.fraction.isEmpty ? "" : "." + parts.fraction + zeros
        return "\(parts.day)T\(parts.time)\(fraction)\(hasZone ? "Z" : "")"
    }

    /// - Returns: nil for a date before Christ, infinity, and another zone than UTC.
    private static func parts(of text: String) -> (day: Substring, time: Substring, fraction: String)? {
        let text = text.hasSuffix("+00") ? text.dropLast(3) : text[...]
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, !words[1].contains(where: { $0 == "+" || $0 == "-" }) else { return nil }
        let time = words[1].split(separator: ".")
        guard let whole = time.first, whole.count == 8, time.count <= 2 else { return nil }
        return (words[0], whole, time.count == 2 ? String(time[1]) : "")
    }
}
