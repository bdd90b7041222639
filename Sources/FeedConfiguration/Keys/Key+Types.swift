import FeedModel

/// A text in which `${…}` is replaced, and which may be an address.
extension Key where Value == InterpolatedText {
    /// - Parameter isSent: true where a request sends the text, which then may have `${capture:…}` and the like.
    static func text(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        isSent: Bool = false, _ meaning: String
    ) -> Self { Self(name, .string, missing, inherited, meaning) { $0.text($1, isSent: isSent) } }
}

extension Key where Value == String {
    static func string(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        _ meaning: String
    ) -> Self {
        Self(
            name, .string, missing, inherited, meaning,
            show: { "\"" + $0.replacing("\"", with: "\\\"") + "\"" }
        ) { $0.string($1) }
    }

    /// A text in which nothing is replaced yet.
    static func template(_ name: String, _ meaning: String) -> Self {
        Self(name, .string, .none, .never, meaning) { table, name in
            table.value(name, "a string") { if case .string(let text) = $0 { text } else { nil } }
        }
    }

    /// The name of a file, which must exist.
    static func file(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        _ meaning: String
    ) -> Self { Self(name, .string, missing, inherited, meaning) { $0.file($1) } }

    /// False, which is read as an empty path; or a path, for a column with an expression.
    static func exportPath(_ name: String, default missing: KeyDefault<Value>, _ meaning: String) -> Self {
        Self(name, .booleanOrString("of a column with `sql`, the path of its value"), missing, .never, meaning) {
            table, name in
            if case .string? = table.nodes[name] { return table.string(name) }
            return table.value(name, "the path of the value in exported XML, or false") {
                if case .boolean(false) = $0 { "" } else { nil }
            }
        }
    }
}

extension Key where Value == Bool {
    static func boolean(
        _ name: String, default missing: Bool, inherited: KeyEntry.Inheritance = .never, _ meaning: String
    ) -> Self {
        Self(name, .boolean, .value(missing), inherited, meaning, show: { String($0) }) { $0.boolean($1) }
    }
}

extension Key where Value == Int {
    static func integer(
        _ name: String, _ range: ClosedRange<Int>, default missing: KeyDefault<Value>,
        inherited: KeyEntry.Inheritance = .never, _ meaning: String
    ) -> Self {
        Self(name, .integer(range), missing, inherited, meaning, show: { String($0) }) { $0.integer($1, in: range) }
    }

    static func size(
        _ name: String, default missing: Int, inherited: KeyEntry.Inheritance = .never, _ meaning: String
    ) -> Self {
        Self(
            name, .size, .value(missing), inherited, meaning,
            show: { "\"\(ByteSize.text($0).replacing(" ", with: ""))\"" }
        ) { $0.byteSize($1) }
    }
}

extension Key where Value == Duration {
    static func duration(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        isPositive: Bool = false, _ meaning: String
    ) -> Self {
        Self(name, .duration, missing, inherited, meaning, show: { "\"\($0.configured)\"" }) {
            $0.duration($1, isPositive: isPositive)
        }
    }
}

extension Key where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    static func choice(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        _ meaning: String
    ) -> Self {
        let names = Value.allCases.map(\.rawValue)
        return Self(name, .choice(names), missing, inherited, meaning, show: { "\"\($0.rawValue)\"" }) {
            $0.choice($1, Value.self)
        }
    }
}

extension Key where Value == ChangeLimit {
    static func changeLimit(
        _ name: String, default missing: KeyDefault<Value>, inherited: KeyEntry.Inheritance = .never,
        _ meaning: String
    ) -> Self {
        Self(name, .changeLimit, missing, inherited, meaning) { table, name in
            let expected = "a number of rows, or a part such as \"50%\""
            let found: String? =
                if case .integer(let number)? = table.nodes[name] { String(number) } else {
                    table.string(name, expected)
                }
            guard let found else { return nil }
            let limit = ChangeLimit(found)
            if limit == nil {
                table.report(
                    name, "expected a number of rows, or a percentage from \"0%\" to \"100%\", found '\(found)'")
            }
            return limit
        }
    }
}

extension Key where Value == [Int] {
    static func integers(
        _ name: String, default missing: [Int], inherited: KeyEntry.Inheritance = .never, _ meaning: String
    ) -> Self {
        Self(name, .integers, .value(missing), inherited, meaning, show: { "\($0)" }) { $0.integers($1) }
    }
}

extension Key where Value == [String] {
    static func strings(_ name: String, default missing: KeyDefault<Value> = .none, _ meaning: String) -> Self {
        Self(name, .strings, missing, .never, meaning) { $0.strings($1) }
    }

    /// Texts in which nothing is replaced yet.
    static func templates(_ name: String, _ meaning: String) -> Self {
        Self(name, .strings, .none, .never, meaning) { $0.templates($1) }
    }
}

/// The `header` of a body in CSV.
enum HeaderOption: Sendable {
    case line(Bool)
    case names([String])
}

extension Key where Value == HeaderOption {
    static func header(_ name: String, _ meaning: String) -> Self {
        Self(name, .booleanOrStrings, .value(.line(true)), .never, meaning, show: { _ in "true" }) { table, name in
            if case .array? = table.nodes[name] { return table.strings(name).map { .names($0) } }
            return table.value(name, "true, false or an array of strings") {
                if case .boolean(let flag) = $0 { .line(flag) } else { nil }
            }
        }
    }
}

extension Key where Value == HookCondition {
    /// SQL, in which nothing is replaced: a text, or one for each table.
    static func condition(_ name: String, _ meaning: String) -> Self {
        Self(name, .stringOrTexts, .none, .never, meaning) { table, name in
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

extension Key where Value == [String: InterpolatedText] {
    /// - Parameter areSent: true where a request sends the texts.
    static func texts(
        _ name: String, default missing: KeyDefault<Value> = .none, inherited: KeyEntry.Inheritance = .never,
        areSent: Bool = false, _ meaning: String
    ) -> Self {
        let merge: @Sendable (Value, Value) -> Value = { inherited, own in inherited.merging(own) { $1 } }
        return Self(name, .texts, missing, inherited, meaning, merge: inherited == .merged ? merge : nil) {
            $0.texts($1, areSent: areSent)
        }
    }
}

/// A number, a boolean, or a text in which nothing is replaced.
extension Key where Value == Constant {
    static func constant(_ name: String, default missing: KeyDefault<Value> = .none, _ meaning: String) -> Self {
        Self(name, .constant, missing, .never, meaning) { $0.scalar($1) }
    }

    /// True, or one of these texts.
    static func flag(_ name: String, or names: [String], _ meaning: String) -> Self {
        Self(name, .flag(or: names), .none, .never, meaning) { $0.scalar($1) }
    }
}

extension Key where Value == [(name: String, value: Constant)] {
    static func constants(_ name: String, _ meaning: String) -> Self {
        Self(name, .constants, .none, .never, meaning) { $0.scalars($1) }
    }
}

extension Key where Value == TOMLValue {
    /// A value of any type.
    static func any(_ name: String, _ meaning: String) -> Self {
        Self(name, .any, .none, .never, meaning) { $0.value($1, "a value") { $0 } }
    }
}
