import FeedModel

extension KeyKind {
    /// Values that are written as one type of TOML.
    ///
    /// - Parameter expected: what the value is, for the message where there is another.
    init(
        _ type: KeyType, _ expected: String, show: @escaping @Sendable (Value) -> String? = { _ in nil },
        _ convert: @escaping @Sendable (TOMLValue) -> Value?
    ) {
        self.init(type, show: show) { $0.value($1, expected, convert) }
    }
}

/// A text in which `${…}` is replaced, and which may be an address: its password and its secret parameters are kept out
/// of messages.
extension KeyKind<InterpolatedText> {
    static var text: Self { text(isSent: false) }

    /// A text that a request sends, which may have `${capture:…}` and the like.
    static var sentText: Self { text(isSent: true) }

    private static func text(isSent: Bool) -> Self {
        Self(.string) { table, name in
            let text = table.text(name, isSent: isSent)
            LiteralSecrets.secrets(inAddress: text?.value ?? "").forEach(table.hide)
            return text
        }
    }
}

extension KeyKind<String> {
    static var string: Self {
        Self(.string, show: { "\"" + $0.replacing("\"", with: "\\\"") + "\"" }) { $0.string($1) }
    }

    /// - Parameter expected: what the text is, for the message where there is another value.
    static func text(_ type: KeyType, _ expected: String) -> Self { Self(type) { $0.string($1, expected) } }

    /// A text in which nothing is replaced yet.
    static var template: Self { Self(.string, "a string") { $0.string } }

    /// The name of a file, which must exist.
    static var file: Self { Self(.string) { $0.file($1) } }
}

/// Whether a column is exported, and to which path.
enum ExportOption: Sendable {
    case flag(Bool)
    case path(String)
}

extension KeyKind<ExportOption> {
    static var export: Self {
        Self(.booleanOrString("of a column with `sql`, the path of its value")) { table, name in
            if table.nodes[name]?.string != nil { return table.string(name).map { .path($0) } }
            return table.value(name, "true, false or the path of the value in exported XML") {
                $0.boolean.map { .flag($0) }
            }
        }
    }
}

extension KeyKind<Bool> {
    static var boolean: Self { Self(.boolean, "true or false", show: { String($0) }) { $0.boolean } }
}

extension KeyKind<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(.integer(range), show: { String($0) }) { table, name in
            guard let number = table.value(name, "an integer", \.integer) else { return nil }
            if range.contains(number) { return number }
            let least = range.lowerBound == 1 ? "an integer above 0" : "\(range.lowerBound) or more"
            let expected = number < range.lowerBound ? least : "at most \(range.upperBound)"
            table.report(name, "expected \(expected), found \(number)")
            return nil
        }
    }

    static var size: Self {
        KeyKind<String>.text(.size, "a size such as \"64MiB\"").parsed(
            { "'\($0)' is not a size" },
            help: "write \"512B\", \"64KiB\", \"256MiB\" or \"1GiB\"; \"\(ByteSize.largestConfigured)\" is the largest",
            show: { "\"\(ByteSize.text($0).replacing(" ", with: ""))\"" }
        ) { ByteSize.parse($0) }
    }
}

extension KeyKind<Duration> {
    static var duration: Self {
        KeyKind<String>.text(.duration, "a duration such as \"30s\"").parsed(
            { "'\($0)' is not a duration" },
            help: "write \"500ms\", \"5s\", \"15m\", \"6h\", \"1d\" or \"3y\"; "
                + "\"\(Duration.longestConfigured)\" is the longest", show: { "\"\($0.configured)\"" }
        ) { Duration(configuration: $0) }
    }

    static var positiveDuration: Self {
        Self(.duration, show: duration.show) { table, name in
            guard let value = duration.read(table, name) else { return nil }
            if value > .zero { return value }
            table.report(name, "expected a duration above 0, found '\(table.string(name) ?? "")'")
            return nil
        }
    }

    static func duration(atLeast least: Duration) -> Self {
        duration.checked { value in
            value < least ? ["expected a duration of at least \(least.configured), found \(value.configured)"] : []
        }
    }
}

extension KeyKind where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self {
        Self(.choice(Value.allCases.map(\.rawValue)), show: { "\"\($0.rawValue)\"" }) { table, name in
            table.string(name).flatMap {
                table.choice($0, among: Array(Value.allCases), at: table.path.appending(name))
            }
        }
    }
}

extension KeyKind<ChangeLimit> {
    static var changeLimit: Self {
        Self(.changeLimit) { table, name in
            let expected = "a number, or a part such as \"50%\""
            guard let found = table.nodes[name]?.integer.map({ String($0) }) ?? table.string(name, expected) else {
                return nil
            }
            let limit = ChangeLimit(found)
            if limit == nil {
                table.report(
                    name, "expected a number, or a percentage from \"0%\" to \"100%\", found '\(found)'")
            }
            return limit
        }
    }
}

extension KeyKind<[Int]> {
    static var integers: Self {
        Self(.integers, show: { "\($0)" }) { $0.array($1, of: "integers", "an integer", \.integer) }
    }
}

extension KeyKind<[String]> {
    static var strings: Self {
        Self(.strings) { table, name in
            templates.read(table, name)?.enumerated().compactMap { index, template in
                guard template.utf8.contains(UInt8(ascii: "$")) else { return template }
                return table.interpolate(template, at: table.path.appending(name).appending(index))?.value
            }
        }
    }

    /// Texts in which nothing is replaced yet.
    static var templates: Self { Self(.strings) { $0.array($1, of: "strings", "a string", \.string) } }
}

extension KeyKind {
    /// Words, each of which is one of some.
    static func choices<Choice: RawRepresentable<String> & Sendable>(_ known: [Choice]) -> Self
    where Value == [Choice] {
        Self(.choices(known.map(\.rawValue))) { table, name in
            guard let words = KeyKind<[String]>.strings.read(table, name) else { return nil }
            let choices = words.enumerated().compactMap { index, word in
                table.choice(word, among: known, at: table.path.appending(name).appending(index))
            }
            // Nothing is said of an array whose words are mistakes.
            return choices.isEmpty && !words.isEmpty ? nil : choices
        }
    }
}

/// The before-images that a source keeps.
struct HistoryOption: Sendable {
    var isKept: Bool
    /// How long; nil for as long as runs.
    var time: Duration?
}

extension KeyKind<HistoryOption> {
    static var history: Self {
        Self(
            .booleanOrString("a duration, which also keeps versions"),
            show: { String($0.isKept) }
        ) { table, name in
            if table.nodes[name]?.string != nil {
                return KeyKind<Duration>.duration.read(table, name).map { HistoryOption(isKept: true, time: $0) }
            }
            return table.value(name, "true, false or a duration such as \"3y\"") {
                $0.boolean.map { HistoryOption(isKept: $0) }
            }
        }
    }
}

/// The `header` of CSV or of a workbook.
extension KeyKind<CSVDialect.Header> {
    static var header: Self {
        Self(.booleanOrStrings, show: { _ in "true" }) { table, name in
            guard table.nodes[name]?.array != nil else {
                return table.value(name, "true, false or an array of strings") { $0.boolean.map { $0 ? .line : .none } }
            }
            let names = KeyKind<[String]>.strings.read(table, name)
            if names?.isEmpty == true { table.report(name, "names no column") }
            return names.map { .names($0) }
        }
    }
}

extension KeyKind<HookCondition> {
    /// SQL, in which nothing is replaced: a text, or one for each table.
    static var condition: Self {
        Self(.stringOrTexts, "a string or a table of strings") { value in
            if let sql = value.string { return .everyTable(sql) }
            guard let conditions = value.table?.entries.map({ ($0.key, $0.node.value.string) }) else { return nil }
            let texts = conditions.compactMap { name, sql in sql.map { (name, $0) } }
            return texts.count < conditions.count ? nil : .tables(Dictionary(uniqueKeysWithValues: texts))
        }
    }
}

extension KeyKind<[String: InterpolatedText]> {
    static var texts: Self { texts(areSent: false) }

    /// Texts that a request sends.
    static var sentTexts: Self { texts(areSent: true) }

    /// - Parameter merge: merges inherited texts with a table's own.
    static func texts(
        areSent: Bool,
        merge: @escaping @Sendable (_ inherited: Value, _ own: Value) -> Value = { $0.merging($1) { $1 } }
    ) -> Self {
        Self(.texts, merge: merge) { table, name in
            table.value(name, "a table", \.table).map { texts in
                texts.entries.reduce(into: [:]) { values, entry in
                    let place = table.path.appending(name).appending(entry.key)
                    values[entry.key] = table.text(of: entry.node.value, at: place, isSent: areSent)
                }
            }
        }
    }
}

/// A number, a boolean, or a text in which nothing is replaced.
extension KeyKind<Constant> {
    static var constant: Self { constant(.constant) }

    /// True, or one of these texts.
    static func flag(or names: [String]) -> Self { constant(.flag(or: names)) }

    private static func constant(_ type: KeyType) -> Self {
        Self(type) { table, name in
            table.value(name, "a string, a number or a boolean") {
                table.constant($0, at: table.path.appending(name))
            }
        }
    }
}

/// A table of constants, in alphabetical order.
extension KeyKind<[(name: String, value: Constant)]> {
    static var constants: Self {
        Self(.constants) { table, name in
            table.value(name, "a table", \.table)?.entries.sorted { $0.key < $1.key }.compactMap { entry in
                let (place, value) = (table.path.appending(name).appending(entry.key), entry.node.value)
                if let value = table.constant(value, at: place) { return (entry.key, value) }
                table.problems.report(place, "expected a string, a number or a boolean, found \(value.typeName)")
                return nil
            }
        }
    }
}

extension DeclarationReader {
    /// Returns a scalar as a constant; nil for another value.
    fileprivate func constant(_ value: TOMLValue, at path: @autoclosure () -> TOMLKeyPath) -> Constant? {
        switch value {
        case .string(let text) where !text.utf8.contains(UInt8(ascii: "$")): return .text(text)
        case .string(let text):
            if text.replacing("$${", with: "").contains("${") {
                problems.report(
                    path(), "a constant cannot contain ${…}",
                    help:
                        "for such a value, use { row = \"id\" } or { capture = \"name\" }; write '$${' for a literal '${'"
                )
            }
            return .text(text.replacing("$${", with: "${"))
        case .integer(let number): return .integer(number)
        case .float(let number): return .real(number)
        case .boolean(let flag): return .boolean(flag)
        default: return nil
        }
    }

    /// Returns the choice that a word is; nil if it is none, which is reported.
    fileprivate func choice<Choice: RawRepresentable<String>>(
        _ word: String, among known: [Choice], at path: @autoclosure () -> TOMLKeyPath
    ) -> Choice? {
        let names = known.map(\.rawValue)
        if let place = names.firstIndex(of: word) { return known[place] }
        problems.report(
            path(), "expected one of \(names.joined(separator: ", ")), found '\(word)'",
            help: didYouMean(word, among: names))
        return nil
    }
}

extension KeyKind<TOMLValue> {
    /// A value of any type.
    static var any: Self { Self(.any, "a value") { $0 } }
}
