import FeedModel

/// A rule between the keys of one table, from which come the message, and the condition in the JSON Schema.
///
/// A boolean key that is false counts as missing.
struct KeyRule: Sendable {
    private enum Condition: Sendable {
        /// - Parameter finding: the finding where several are there.
        case atMostOne(Finding?)
        /// - Parameter lacking: the finding where none of them is there.
        case exactlyOne(lacking: Finding)
        /// The first key requires one of the others.
        ///
        /// - Parameter hint: what the finding says behind their names.
        case requires(hint: String)
        /// The first key requires one of some values of the last one.
        ///
        /// - Parameter isThere: true where a value must be given; false where a missing one will do.
        case requiresValue([String], isThere: Bool)
        /// The first key requires a word in the array that is the value of the last one.
        case requiresElement(String, hint: String)
        /// A value of the first key requires the last one.
        case valueRequires(String, hint: String, help: String?)
        /// A value of the first key excludes the last one.
        case valueExcludes(String, Finding)
    }

    private let entries: [KeyEntry]
    /// The names of the keys.
    let names: [String]
    private let condition: Condition

    private init(_ keys: [any DeclaredKey], _ condition: Condition) {
        entries = keys.map(\.entry)
        names = entries.map(\.name)
        self.condition = condition
    }

    /// The keys exclude each other. The mistake is at the last of those that are there.
    ///
    /// - Parameters:
    ///   - reason: the finding; nil for one that names the given keys.
    ///   - help: the help on it.
    static func atMostOne(_ keys: any DeclaredKey..., because reason: String? = nil, help: String? = nil) -> Self {
        Self(keys, .atMostOne(reason.map { Finding($0, help: help) }))
    }

    /// - Parameters:
    ///   - lacking: the finding where none of them is there.
    ///   - help: the help on it.
    static func exactlyOne(_ keys: any DeclaredKey..., lacking: String, help: String) -> Self {
        Self(keys, .exactlyOne(lacking: Finding(lacking, help: help)))
    }

    /// A key requires one of others.
    static func key(_ key: some DeclaredKey, requires others: any DeclaredKey..., hint: String = "") -> Self {
        Self([key] + others, .requires(hint: hint))
    }

    /// A key requires one of some values of another one.
    ///
    /// - Parameter orNone: true if the other one may be missing.
    static func key<Value: RawRepresentable<String>>(
        _ key: some DeclaredKey, requires other: Key<Value>, is values: Value..., orNone: Bool = false
    ) -> Self { Self([key, other], .requiresValue(values.map(\.rawValue), isThere: !orNone)) }

    /// A key requires a word in the array that is the value of another one.
    static func key<Word: RawRepresentable<String>>(
        _ key: some DeclaredKey, requires other: Key<[Word]>, containing word: Word, hint: String
    ) -> Self { Self([key, other], .requiresElement(word.rawValue, hint: hint)) }

    /// A value of a key requires another one.
    ///
    /// - Parameters:
    ///   - hint: what the finding says behind its name.
    ///   - help: the help on the finding.
    static func value<Value: RawRepresentable<String>>(
        _ value: Value, of key: Key<Value>, requires other: some DeclaredKey, hint: String, help: String? = nil
    ) -> Self { Self([key, other], .valueRequires(value.rawValue, hint: hint, help: help)) }

    /// A value of a key excludes another one.
    ///
    /// - Parameters:
    ///   - reason: the finding.
    ///   - help: the help on it.
    static func value<Value: RawRepresentable<String>>(
        _ value: Value, of key: Key<Value>, excludes other: some DeclaredKey, because reason: String,
        help: String? = nil
    ) -> Self { Self([key, other], .valueExcludes(value.rawValue, Finding(reason, help: help))) }

    // MARK: - Mistakes

    private static let onlyOne = "give only one"

    private static func found(_ given: [String]) -> String {
        "found " + given.map { "'\($0)'" }.joined(separator: " and ")
    }

    /// Reports what contradicts the rule.
    ///
    /// - Parameter mistaken: the keys of which the table is known to lack one, or to have several: what other rules say of them
    ///   follows from it.
    func check(_ table: DeclarationReader, _ mistaken: inout Set<String>) {
        switch condition {
        case .atMostOne(let finding):
            let given = given(in: table)
            guard given.count > 1, let last = given.last, mistaken.isDisjoint(with: given) else { return }
            let finding = finding ?? Finding(Self.found(given), help: Self.onlyOne)
            table.problems.report(table.path.appending(last), finding)
        case .exactlyOne(let finding):
            let given = given(in: table)
            guard given.count != 1 else { return }
            if given.isEmpty {
                mistaken.formUnion(names)
                return table.problems.reportLacking(names, at: table.path, finding.text, help: finding.help)
            }
            mistaken.formUnion(given)
            table.problems.report(table.path, Self.found(given), help: Self.onlyOne)
        case .requires(let hint):
            guard table.isGiven(entries[0]), !entries.dropFirst().contains(where: table.isGiven),
                mistaken.isDisjoint(with: names.dropFirst())
            else { return }
            let others = Array(names.dropFirst())
            table.problems.reportLacking(
                others, at: table.path.appending(names[0]),
                "requires \(others.map { "'\($0)'" }.alternatives)\(hint)")
        case .requiresValue(let values, let isThere):
            guard table.isGiven(entries[0]) else { return }
            let found = table.writtenText(names[1])
            // A value that is none of the key's is a mistake of its own.
            if let known = entries[1].type.choices, let found, !known.contains(found) { return }
            guard found.map({ !values.contains($0) }) ?? (isThere && !table.isGiven(entries[1])) else { return }
            table.report(names[0], "requires \(names[1]) = \(values.map { "\"\($0)\"" }.alternatives)")
        case .requiresElement(let word, let hint):
            guard table.isGiven(entries[0]), let words = table.nodes[names[1]]?.array else { return }
            let found = words.map { $0.value.string.map(table.interpolated) }
            // A word that is none of the key's is a mistake of its own.
            guard found.allSatisfy({ $0.map { entries[1].type.choices?.contains($0) ?? true } ?? false }),
                !found.contains(word)
            else { return }
            table.report(names[0], "requires \"\(word)\" in '\(names[1])'\(hint)")
        case .valueRequires(let value, let hint, let help):
            guard table.writtenText(names[0]) == value, !table.isGiven(entries[1]) else { return }
            table.problems.reportLacking(
                [names[1]], at: table.path.appending(names[0]), "requires '\(names[1])'\(hint)", help: help)
        case .valueExcludes(let value, let finding):
            guard table.writtenText(names[0]) == value, table.isGiven(entries[1]) else { return }
            table.problems.report(table.path.appending(names[0]), finding)
        }
    }

    /// Returns the names of those keys that a table has.
    private func given(in table: DeclarationReader) -> [String] {
        entries.lazy.filter { table.isGiven($0) }.map(\.name)
    }

    // MARK: - JSON Schema

    /// The conditions of the JSON Schema for an object with these keys.
    var schema: [String: Any] {
        switch condition {
        case .atMostOne: ["not": ["allOf": entries.map(Self.given)]]
        case .exactlyOne: ["oneOf": entries.map(Self.given)]
        case .requires where names.count == 2: ["dependentRequired": [names[0]: [names[1]]]]
        case .requires: ["dependentSchemas": [names[0]: ["anyOf": entries.dropFirst().map(Self.given)]]]
        case .requiresValue(let values, let isThere):
            ["dependentSchemas": [names[0]: Self.object(with: names[1], in: values, isThere: isThere)]]
        case .requiresElement(let word, _):
            ["dependentSchemas": [names[0]: ["properties": [names[1]: ["contains": Self.schema(of: [word])]]]]]
        case .valueRequires(let value, _, _):
            ["if": Self.object(with: names[0], value), "then": ["required": [names[1]]]]
        case .valueExcludes(let value, _):
            ["not": ["allOf": [Self.object(with: names[0], value), Self.given(entries[1])]]]
        }
    }

    /// The schema of an object whose key has one of some values, or one that is replaced (`${…}`).
    private static func object(with key: String, in values: [String], isThere: Bool) -> [String: Any] {
        var schema: [String: Any] = ["properties": [key: self.schema(of: values)]]
        if isThere { schema["required"] = [key] }
        return schema
    }

    /// The schema of one of some values, or of one that is replaced (`${…}`).
    private static func schema(of values: [String]) -> [String: Any] {
        ["anyOf": [["enum": values], ["pattern": KeyType.variable]]]
    }

    private static func object(with key: String, _ value: String) -> [String: Any] {
        ["required": [key], "properties": [key: ["const": value]]]
    }

    /// The schema of an object that has a key.
    private static func given(_ entry: KeyEntry) -> [String: Any] {
        guard entry.type.isBoolean else { return ["required": [entry.name]] }
        return ["required": [entry.name], "properties": [entry.name: ["const": true]]]
    }
}
