import FeedModel
import XMLStream

/// Keys of a table that make one value.
protocol ValueGroup: KeyGroup {
    associatedtype Value: Sendable

    static var all: Self { get }

    /// Returns the value of a table, and reports what is wrong with it as a whole. What is wrong with single keys is
    /// reported already.
    func read(_ table: DeclarationReader) -> Value?
}

extension ValueGroup {
    fileprivate static func value(of table: DeclarationReader) -> Value? {
        table.finish()
        return all.read(table)
    }
}

extension KeyKind {
    /// A table that makes one value.
    ///
    /// - Parameter short: the key for which a string alone stands.
    static func table<Group: ValueGroup>(_ keys: Group.Type, short: String? = nil) -> Self where Group.Value == Value {
        Self(.table(keys, short: short)) { $0.table($1, of: keys, orTextFor: short).flatMap(keys.value) }
    }

    /// Tables, each of which makes one value.
    static func tables<Group: ValueGroup>(_ keys: Group.Type) -> Self where [Group.Value] == Value {
        Self(.tables(keys)) { $0.tables($1, of: keys)?.compactMap(keys.value) }
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

    /// The name of a table or a column that need not exist.
    static var newName: Self { .string.checked { [NewName.problem($0)].compactMap(\.self) } }

    /// A text that is not only white space.
    static var filled: Self { .string.checked("is empty") { !$0.allSatisfy(\.isWhitespace) } }

    /// The name of a file that can be read.
    static var readableFile: Self {
        Self(.string) { table, name in
            file.read(table, name).flatMap { path in
                table.reporting(name) { try ConfigurationFile.read(named: path) }.map { _ in path }
            }
        }
    }
}

extension KeyKind<InterpolatedText> {
    /// An `http:` or `https:` address.
    static var webAddress: Self {
        Self(.string) { table, name in
            text.read(table, name).flatMap { text in
                table.address(text, name) { try WebAddress($0) }.map { _ in text }
            }
        }
    }
}

extension KeyKind<[String]> {
    /// Names of columns, each once.
    static var columns: Self {
        strings.checked("a column is named twice") { Set($0.map { $0.lowercased() }).count == $0.count }
    }
}

/// A path from the root of a response, and its text.
struct ResponsePath: Sendable {
    var path: XMLPath
    var written: String
}

extension KeyKind<ResponsePath> {
    /// - Parameter example: a path for the message on one that does not begin at the root.
    static func path(like example: String) -> Self {
        Self(.string) { table, name in
            table.string(name).flatMap { table.responsePath($0, name, like: example) }
        }
    }
}

extension KeyKind<[CaptureDeclaration]> {
    /// The names of captured values with their paths, in alphabetical order.
    static var captures: Self {
        Self(.texts) { table, name in
            KeyKind<[String: InterpolatedText]>.texts.read(table, name)?.sorted { $0.key < $1.key }.compactMap {
                entry in
                table.responsePath(entry.value.value, name, like: "/login/token").map {
                    CaptureDeclaration(name: entry.key, path: $0.path, written: $0.written)
                }
            }
        }
    }
}

extension DeclarationReader {
    /// Returns a path from the root of a response; nil if a text is none, which is reported at a key.
    fileprivate func responsePath(_ written: String, _ key: String, like example: String) -> ResponsePath? {
        guard let path = path(written, key) else { return nil }
        guard path.isAbsolute, !path.steps.isEmpty else {
            report(key, "'\(written)' must begin at the root, as in \"\(example)\"")
            return nil
        }
        guard path.steps.allSatisfy({ $0.position == nil }) else {
            report(key, "'\(written)' asks for a position, which only a mapping's paths may; ask for an attribute")
            return nil
        }
        return ResponsePath(path: path, written: written)
    }
}

extension KeyKind<[String: InterpolatedText]> {
    /// Headers, which replace inherited ones of the same name.
    static var headers: Self {
        texts(areSent: true) { $0.replacingHeaders(with: $1) }.checked(\.headerProblems)
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
        Self(.string) { table, name in
            KeyKind<InterpolatedText>.text.read(table, name).flatMap { Transport.Proxy($0, name, table) }
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
