import FeedModel

/// A text in which `${…}` is replaced, and which may be an address.
extension KeyKind<InterpolatedText> {
    static var text: Self { Self(.string) { $0.text($1) } }

    /// A text that a request sends, which may have `${capture:…}` and the like.
    static var sentText: Self { Self(.string) { $0.text($1, isSent: true) } }
}

extension KeyKind<String> {
    static var string: Self {
        Self(.string, show: { "\"" + $0.replacing("\"", with: "\\\"") + "\"" }) { $0.string($1) }
    }

    /// A text in which nothing is replaced yet.
    static var template: Self {
        Self(.string) { table, name in
            table.value(name, "a string") { if case .string(let text) = $0 { text } else { nil } }
        }
    }

    /// The name of a file, which must exist.
    static var file: Self { Self(.string) { $0.file($1) } }

    /// False, which is read as an empty path; or a path, for a column with an expression.
    static var exportPath: Self {
        Self(.booleanOrString("of a column with `sql`, the path of its value")) { table, name in
            if case .string? = table.nodes[name] { return table.string(name) }
            return table.value(name, "the path of the value in exported XML, or false") {
                if case .boolean(false) = $0 { "" } else { nil }
            }
        }
    }
}

extension KeyKind<Bool> {
    static var boolean: Self { Self(.boolean, show: { String($0) }) { $0.boolean($1) } }
}

extension KeyKind<Int> {
    static func integer(_ range: ClosedRange<Int>) -> Self {
        Self(.integer(range), show: { String($0) }) { $0.integer($1, in: range) }
    }

    static var size: Self {
        Self(.size, show: { "\"\(ByteSize.text($0).replacing(" ", with: ""))\"" }) { $0.byteSize($1) }
    }
}

extension KeyKind<Duration> {
    static var duration: Self { Self(.duration, show: { "\"\($0.configured)\"" }) { $0.duration($1) } }

    static var positiveDuration: Self {
        Self(.duration, show: { "\"\($0.configured)\"" }) { $0.duration($1, isPositive: true) }
    }

    static func duration(atLeast least: Duration) -> Self {
        duration.checked { value in
            value < least ? ["expected a duration of at least \(least.configured), found \(value.configured)"] : []
        }
    }
}

extension KeyKind where Value: RawRepresentable<String> & CaseIterable {
    static var choice: Self {
        Self(.choice(Value.allCases.map(\.rawValue)), show: { "\"\($0.rawValue)\"" }) { $0.choice($1, Value.self) }
    }
}

extension KeyKind<ChangeLimit> {
    static var changeLimit: Self {
        Self(.changeLimit) { table, name in
            let expected = "a number, or a part such as \"50%\""
            let found: String? =
                if case .integer(let number)? = table.nodes[name] { String(number) } else {
                    table.string(name, expected)
                }
            guard let found else { return nil }
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
    static var integers: Self { Self(.integers, show: { "\($0)" }) { $0.integers($1) } }
}

extension KeyKind<[String]> {
    static var strings: Self { Self(.strings) { $0.strings($1) } }

    /// Texts in which nothing is replaced yet.
    static var templates: Self { Self(.strings) { $0.templates($1) } }
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
            if case .string? = table.nodes[name] {
                return table.duration(name).map { HistoryOption(isKept: true, time: $0) }
            }
            return table.value(name, "true, false or a duration such as \"3y\"") {
                if case .boolean(let isKept) = $0 { HistoryOption(isKept: isKept) } else { nil }
            }
        }
    }
}

/// The `header` of a body in CSV.
enum HeaderOption: Sendable {
    case line(Bool)
    case names([String])
}

extension KeyKind<HeaderOption> {
    static var header: Self {
        Self(.booleanOrStrings, show: { _ in "true" }) { table, name in
            if case .array? = table.nodes[name] { return table.strings(name).map { .names($0) } }
            return table.value(name, "true, false or an array of strings") {
                if case .boolean(let flag) = $0 { .line(flag) } else { nil }
            }
        }
    }
}

extension KeyKind<HookCondition> {
    /// SQL, in which nothing is replaced: a text, or one for each table.
    static var condition: Self {
        Self(.stringOrTexts) { table, name in
            table.value(name, "a string or a table of strings") { value in
                switch value {
                case .string(let sql): return .everyTable(sql)
                case .table(let nodes):
                    var conditions: [String: String] = [:]
                    for entry in nodes.entries {
                        guard case .string(let sql) = entry.node.value else { return nil }
                        conditions[entry.key] = sql
                    }
                    return .tables(conditions)
                default: return nil
                }
            }
        }
    }
}

extension KeyKind<[String: InterpolatedText]> {
    static var texts: Self { texts(areSent: false) }

    /// Texts that a request sends.
    static var sentTexts: Self { texts(areSent: true) }

    private static func texts(areSent: Bool) -> Self {
        Self(.texts, merge: { $0.merging($1) { $1 } }) { $0.texts($1, areSent: areSent) }
    }
}

/// A number, a boolean, or a text in which nothing is replaced.
extension KeyKind<Constant> {
    static var constant: Self { Self(.constant) { $0.scalar($1) } }

    /// True, or one of these texts.
    static func flag(or names: [String]) -> Self { Self(.flag(or: names)) { $0.scalar($1) } }
}

extension KeyKind<[(name: String, value: Constant)]> {
    static var constants: Self { Self(.constants) { $0.scalars($1) } }
}

extension KeyKind<TOMLValue> {
    /// A value of any type.
    static var any: Self { Self(.any) { $0.value($1, "a value") { $0 } } }
}
