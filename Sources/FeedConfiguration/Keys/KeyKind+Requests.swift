import FeedModel

/// Kinds of values that sources and requests have.
extension KeyKind {
    /// A table of keys that make one value.
    ///
    /// - Parameters:
    ///   - short: the key for which a string alone stands.
    ///   - read: returns the value of a table, and reports what is wrong with it.
    static func table(
        _ keys: any KeyGroup.Type, short: String? = nil, read: @escaping @Sendable (DeclarationReader) -> Value?
    ) -> Self {
        Self(.table(keys, short: short)) { $0.table($1, of: keys, orTextFor: short).flatMap(read) }
    }
}

extension KeyKind<CronSchedule> {
    /// The times of runs, by the clocks of UTC.
    static var schedule: Self {
        Self(.string) { table, name in
            guard let text = table.string(name) else { return nil }
            return table.reporting(name, "'\(text)' is not a schedule: ") {
                CronSchedule(
                    text, timeZone: NamedZone.utc.name, fields: try CronFields(text), zone: NamedZone.utc.rules)
            }
        }
    }
}

extension KeyKind<NamedZone> {
    /// The name of a time zone in tzdata.
    static var timeZone: Self {
        Self(.string, show: { "\"\($0.name)\"" }) { table, name in
            table.string(name).flatMap { text in
                table.reporting(name) { try table.timeZones.zone(text) }
            }
        }
    }
}

extension KeyKind<String> {
    /// An HTTP method, in upper case.
    static var method: Self {
        Self(.string) { $0.string($1)?.uppercased() }.checked {
            $0.isHTTPToken ? [] : ["'\($0)' is not a method (RFC 9110, section 9)"]
        }
    }

    /// The name of a column that need not exist.
    static var newColumn: Self { .string.checked { [NewName.problem($0)].compactMap(\.self) } }
}

extension KeyKind<[String: InterpolatedText]> {
    /// Headers, which replace inherited ones of the same name.
    static var headers: Self {
        Self(.texts, merge: { $0.replacingHeaders(with: $1) }) { $0.texts($1, areSent: true) }
            .checked(\.headerProblems)
    }
}

extension [String: InterpolatedText] {
    /// The mistakes in these headers.
    var headerProblems: [String] {
        var names: Set<String> = []
        return sorted { $0.key < $1.key }.flatMap { name, value in
            var problems: [String] = []
            if !name.isHTTPToken { problems.append("'\(name)' is not a header's name (RFC 9110, section 5.1)") }
            if value.probe.utf8.contains(where: { $0 == 10 || $0 == 13 || $0 == 0 }) {
                problems.append("the value of '\(name)' has a line feed in it")
            }
            if !names.insert(name.lowercased()).inserted {
                problems.append("'\(name)' is given twice; letter case does not distinguish headers")
            }
            return problems
        }
    }

    /// Returns these headers with others, each in place of the one with its name in whichever case.
    func replacingHeaders(with others: Self) -> Self {
        let names = Set(others.keys.map { $0.lowercased() })
        return filter { !names.contains($0.key.lowercased()) }.merging(others) { $1 }
    }
}

extension KeyKind<Transport.Proxy> {
    static var proxy: Self {
        Self(.string) { table, name in table.text(name).flatMap { TransportReader.proxy($0, name, table) } }
    }
}

extension KeyKind<RowExpiry> {
    /// How old rows may become.
    static var expiry: Self {
        .table(ExpiryKeys.self) { table in
            let keys = ExpiryKeys.all
            let (column, after) = (table[keys.column], table[keys.after])
            table.finish()
            guard let column, let after else { return nil }
            return RowExpiry(column: column, after: after)
        }
    }
}

extension String {
    /// True for a token of HTTP (RFC 9110, section 5.6.2).
    fileprivate var isHTTPToken: Bool {
        !isEmpty && utf8.allSatisfy { $0.isLetterOrDigit || "!#$%&'*+-.^_`|~".utf8.contains($0) }
    }
}

/// The name of a table or a column that a mapping may create.
enum NewName {
    static func problem(_ name: String) -> String? {
        if name.isEmpty { return "a name must not be empty" }
        let reserved = ["tributary_", "sqlite_"].first { name.lowercased().hasPrefix($0) }
        return reserved.map { "a name that begins with '\($0)' is reserved" }
    }
}
