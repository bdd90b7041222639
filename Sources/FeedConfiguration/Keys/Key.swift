import FeedDeclarations
import FeedModel

/// A key of `sources.toml`: its name, how its value is read, and what the reference and the JSON Schema say of it.
struct Key<Value: Sendable>: DeclaredKey {
    let entry: KeyEntry
    private let missing: KeyDefault<Value>
    let read: @Sendable (DeclarationReader, String) -> Value?

    /// - Parameter show: returns a value as it is written in TOML.
    init(
        _ name: String, _ type: KeyType, _ missing: KeyDefault<Value>, _ inheritance: KeyEntry.Inheritance,
        _ meaning: String, show: (Value) -> String? = { _ in nil },
        read: @escaping @Sendable (DeclarationReader, String) -> Value?
    ) {
        entry = KeyEntry(
            name: name, type: type, fallback: missing.described(show), inheritance: inheritance, meaning: meaning)
        self.missing = missing
        self.read = read
    }

    /// The value of a missing key.
    ///
    /// - Precondition: its default is a value.
    var standard: Value {
        guard case .value(let value) = missing else { preconditionFailure("'\(entry.name)' has no default value") }
        return value
    }
}

/// A key whose value is a table, or tables.
struct TableKey: DeclaredKey {
    let entry: KeyEntry

    private init(
        _ name: String, _ type: KeyType, _ missing: KeyEntry.Default, _ inheritance: KeyEntry.Inheritance,
        _ meaning: String
    ) {
        entry = KeyEntry(
            name: name, type: type, fallback: missing, inheritance: inheritance, meaning: meaning
        )
    }

    /// - Parameter short: the key for which a string alone stands.
    static func table(
        _ name: String, _ keys: any KeyGroup.Type, short: String? = nil, default missing: KeyEntry.Default = .none,
        inherited: KeyEntry.Inheritance = .never, _ meaning: String
    ) -> Self { Self(name, .table(keys, short: short), missing, inherited, meaning) }

    static func tables(
        _ name: String, _ keys: any KeyGroup.Type, default missing: KeyEntry.Default = .none, _ meaning: String
    ) -> Self { Self(name, .tables(keys), missing, .never, meaning) }

    /// A table whose keys are names that the file chooses, each with a table.
    static func named(
        _ name: String, _ keys: any KeyGroup.Type, short: String? = nil, default missing: KeyEntry.Default = .none,
        _ meaning: String
    ) -> Self { Self(name, .named(keys, short: short), missing, .never, meaning) }

    /// A table that becomes XML.
    static func elements(_ name: String, _ meaning: String) -> Self { Self(name, .elements, .none, .never, meaning) }
}

/// What stands for a missing key.
enum KeyDefault<Value: Sendable>: Sendable {
    case none
    /// Nothing: the key must be there.
    case required
    case value(Value)
    /// What depends on other things, in words.
    case described(String)

    func described(_ show: (Value) -> String?) -> KeyEntry.Default {
        switch self {
        case .none: .none
        case .required: .required
        case .value(let value): show(value).map { .value($0) } ?? .none
        case .described(let text): .described(text)
        }
    }
}

protocol DeclaredKey: Sendable {
    var entry: KeyEntry { get }
}
