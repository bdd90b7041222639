import FeedModel

/// A key of `sources.toml`: its name, how its value is read, and what the reference and the JSON Schema say of it.
struct Key<Value: Sendable>: DeclaredKey {
    let entry: KeyEntry
    private let missing: KeyDefault<Value>
    private let kind: KeyKind<Value>

    init(
        _ name: String, _ kind: KeyKind<Value>, default missing: KeyDefault<Value> = .none,
        inherited inheritance: KeyEntry.Inheritance = .never, _ meaning: String
    ) {
        entry = KeyEntry(
            name: name, type: kind.type, fallback: missing.shown(kind.show), inheritance: inheritance,
            meaning: meaning)
        self.missing = missing
        self.kind = kind
    }

    /// Returns the value that a table gives to the key, and reports what is wrong with it.
    func read(_ table: DeclarationReader) -> Value? { kind.read(table, entry.name) }

    /// Returns the value of a table that has its own and inherits another.
    func merged(_ inherited: Value, _ own: Value) -> Value {
        entry.inheritance == .merged ? kind.merge(inherited, own) : own
    }

    func check(in table: DeclarationReader) { _ = table.own(self) }

    /// The value of a missing key.
    ///
    /// - Precondition: its default is a value.
    var standard: Value {
        guard case .value(let value) = missing else { preconditionFailure("'\(entry.name)' has no default value") }
        return value
    }
}

/// A kind of values: how one is read, and how it is written in TOML.
struct KeyKind<Value: Sendable>: Sendable {
    let type: KeyType
    /// Returns a value as it is written in TOML.
    let show: @Sendable (Value) -> String?
    /// Merges an inherited value with a table's own.
    let merge: @Sendable (_ inherited: Value, _ own: Value) -> Value
    /// Returns the value that a table gives to a key of this name, and reports what is wrong with it.
    let read: @Sendable (DeclarationReader, String) -> Value?

    init(
        _ type: KeyType, show: @escaping @Sendable (Value) -> String? = { _ in nil },
        merge: @escaping @Sendable (_ inherited: Value, _ own: Value) -> Value = { $1 },
        read: @escaping @Sendable (DeclarationReader, String) -> Value?
    ) {
        self.type = type
        self.show = show
        self.merge = merge
        self.read = read
    }

    /// Returns the kind with a further check of its values.
    ///
    /// - Parameter problems: returns what is wrong with a value.
    func checked(_ problems: @escaping @Sendable (Value) -> [Finding]) -> Self {
        Self(type, show: show, merge: merge) { table, name in
            let value = read(table, name)
            for problem in value.map(problems) ?? [] { table.problems.report(table.path.appending(name), problem) }
            return value
        }
    }

    func checked(_ problems: @escaping @Sendable (Value) -> [String]) -> Self {
        checked { problems($0).map { Finding($0) } }
    }

    /// - Parameters:
    ///   - finding: what is wrong with other values.
    ///   - isRight: returns true for a value that can be taken.
    func checked(_ finding: String, help: String? = nil, _ isRight: @escaping @Sendable (Value) -> Bool) -> Self {
        checked { isRight($0) ? [] : [Finding(finding, help: help)] }
    }

    /// Returns the kind of what these values stand for.
    ///
    /// - Parameters:
    ///   - finding: what is wrong with a value that stands for nothing.
    ///   - show: returns what a value stands for as it is written in TOML.
    ///   - convert: returns what a value stands for; nil for nothing.
    func parsed<Other>(
        _ finding: @escaping @Sendable (Value) -> String, help: String? = nil,
        show: @escaping @Sendable (Other) -> String? = { _ in nil },
        for convert: @escaping @Sendable (Value) -> Other?
    ) -> KeyKind<Other> {
        KeyKind<Other>(type, show: show) { table, name in
            guard let value = read(table, name) else { return nil }
            let other = convert(value)
            if other == nil { table.report(name, finding(value), help: help) }
            return other
        }
    }
}

/// A key whose value is a table, or tables, which is read key by key.
struct TableKey: DeclaredKey {
    let entry: KeyEntry

    private init(
        _ name: String, _ type: KeyType, _ missing: KeyDefault<String>, _ meaning: String
    ) { entry = KeyEntry(name: name, type: type, fallback: missing, inheritance: .never, meaning: meaning) }

    /// - Parameter meaning: by default, that of the table.
    static func table(_ name: String, _ keys: any KeyGroup.Type, _ meaning: String? = nil) -> Self {
        Self(name, .table(keys, short: nil), .none, meaning ?? keys.table.meaning)
    }

    static func tables(
        _ name: String, _ keys: any KeyGroup.Type, default missing: KeyDefault<String> = .none, _ meaning: String
    ) -> Self { Self(name, .tables(keys), missing, meaning) }

    /// A table whose keys are names that the file chooses, each with a table.
    ///
    /// - Parameter short: the key for which a string alone stands.
    static func named(
        _ name: String, _ keys: any KeyGroup.Type, short: String? = nil, default missing: KeyDefault<String> = .none,
        _ meaning: String? = nil
    ) -> Self { Self(name, .named(keys, short: short), missing, meaning ?? keys.table.meaning) }

    /// A table that becomes XML.
    static func elements(_ name: String, _ meaning: String) -> Self { Self(name, .elements, .none, meaning) }
}

/// What stands for a missing key.
enum KeyDefault<Value: Sendable>: Sendable {
    case none
    /// Nothing: the key must be there.
    ///
    /// - Parameter help: the help on a missing key.
    case requiring(help: String?)
    case value(Value)
    /// What depends on other things, in words.
    case described(String)

    static var required: Self { .requiring(help: nil) }

    func shown(_ show: (Value) -> String?) -> KeyDefault<String> {
        switch self {
        case .none: .none
        case .requiring(let help): .requiring(help: help)
        case .value(let value): show(value).map { .value($0) } ?? .none
        case .described(let text): .described(text)
        }
    }
}

protocol DeclaredKey: Sendable {
    var entry: KeyEntry { get }

    /// Reads the key of a table, so that its mistakes are reported even where nothing asks for its value.
    func check(in table: DeclarationReader)
}

extension DeclaredKey {
    func check(in table: DeclarationReader) {}
}
