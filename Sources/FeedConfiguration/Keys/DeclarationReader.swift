import FeedModel
import Foundation
import XMLStream

/// Reads the keys of one TOML table strictly. A wrong type is reported when it is read. ``finish()`` reports each key
/// that the table cannot have, with the nearest one that it can.
final class DeclarationReader {
    let path: TOMLKeyPath
    let problems: ProblemCollector
    private let interpolation: Interpolation
    let nodes: TOMLTable
    /// The keys that the table can have; nil if the file chooses their names.
    private let known: KeyTable?
    /// The reader of the table from which this one inherits.
    private let outer: DeclarationReader?
    /// The values of this table's keys, by name. Each is read, and its mistakes are reported, once.
    private var values: [String: Any] = [:]

    init(
        _ nodes: TOMLTable, at path: TOMLKeyPath, known: KeyTable?, within outer: DeclarationReader? = nil,
        problems: ProblemCollector, interpolation: Interpolation
    ) {
        self.nodes = nodes
        self.known = known
        self.outer = outer
        self.path = path
        self.problems = problems
        self.interpolation = interpolation
    }

    /// The table's place, for messages about its declaration.
    var place: KeyPlace { KeyPlace(file: problems.file(of: path), path) }

    var timeZones: TimeZoneFolder { interpolation.timeZones }
    /// The `encryption_key` of `[store]`; nil without one.
    var encryptionKey: EncryptionKey? { interpolation.encryptionKey }

    var keys: [String] { nodes.keys.sorted() }

    /// The keys in the order of the file.
    var keysInOrder: [String] { nodes.keys }

    /// Returns the keys of a table within this one, even if that table is never read.
    func keys(of key: String) -> [String] {
        nodes[key]?.table?.keys ?? []
    }

    private func has(_ key: String) -> Bool { nodes[key] != nil }

    func report(
        _ key: String, _ finding: @autoclosure () -> String, help: @autoclosure () -> String? = nil
    ) {
        problems.report(path.appending(key), finding(), help: help())
    }

    /// Returns the value of a body; nil if it throws, which is reported at a key.
    ///
    /// - Parameter beginning: the text before the finding.
    @discardableResult
    func reporting<Value>(
        _ key: String, _ beginning: @autoclosure () -> String = "", _ body: () throws -> Value
    ) -> Value? {
        do {
            return try body()
        } catch {
            let finding = error as? Finding ?? Finding("\(error)")
            report(key, beginning() + finding.text, help: finding.help)
            return nil
        }
    }

    @discardableResult
    func reporting<Value>(
        _ key: some DeclaredKey, _ beginning: @autoclosure () -> String = "", _ body: () throws -> Value
    ) -> Value? { reporting(key.entry.name, beginning(), body) }

    /// Returns what is read from an address; nil if it cannot be used, which is reported at its key.
    func address<Address>(
        _ text: InterpolatedText, _ key: String, _ read: (String) throws -> Address
    ) -> Address? {
        func shown() -> String { "\(text)".withoutUserInfo.shortened(to: ConfigurationLimits.shownAddress) }
        return reporting(key, "'\(shown())' cannot be used: ") { try read(text.value) }
    }

    /// Returns the path that a key's text is; nil if it is none, which is reported.
    func path(_ written: String, _ key: String, namespaces: [String: String] = [:]) -> XMLPath? {
        do {
            return try XMLPathParser.parse(written, namespaces: namespaces)
        } catch {
            report(key, error.finding, help: error.help)
            return nil
        }
    }

    /// Returns every key with its value and place, in the order of the file.
    func entries() -> [(key: String, value: TOMLValue, path: TOMLKeyPath)] {
        nodes.entries.map { (key: $0.key, value: $0.node.value, path: path.appending($0.key)) }
    }

    private func reportLacking(_ entry: KeyEntry, _ help: String?) {
        var help = help
        if entry.type.tables == .array { help = "add a [[\(path.appending(entry.name))]]" }
        problems.reportLacking([entry.name], at: path, "'\(entry.name)' is missing", help: help)
    }

    /// Reads every key, and reports those that the table lacks or cannot have, and those that contradict each other.
    ///
    /// - Parameter reads: false where only some values matter, and mistakes in others are passed over.
    func finish(reads: Bool = true) {
        guard let known else { return }
        for key in known.keys {
            if reads { key.check(in: self) }
            if case .requiring(let help) = key.entry.fallback, !has(key) { reportLacking(key.entry, help) }
        }
        var mistaken: Set<String> = []
        for rule in known.rules { rule.check(self, &mistaken) }
        let names = known.names
        for entry in nodes.entries where !names.contains(entry.key) {
            // Further mistakes are counted alone.
            let places = problems.isFull ? nil : known.places(of: entry.key, from: path)
            let nearest = problems.isFull || places != nil ? nil : nearestName(to: entry.key, among: names)
            problems.reportUnknown(
                path.appending(entry.key), meant: nearest,
                help: places.map { "it belongs in \($0)" } ?? nearest.map { "did you mean '\($0)'?" }
                    ?? "known here: \(names.sorted().joined(separator: ", "))")
        }
    }

    // MARK: - Values

    /// Returns the value of a key; nil if it is missing or wrong. An inheritable one comes from the nearest table that
    /// gives it, or is merged from all that do.
    subscript<Value>(key: Key<Value>) -> Value? {
        let own = own(key)
        guard key.entry.inheritance != .never, let outer else { return own }
        if let own, key.entry.inheritance == .nearest { return own }
        guard let inherited = outer[key] else { return own }
        return own.map { key.merged(inherited, $0) } ?? inherited
    }

    /// Returns the value that the table itself gives to a key; nil if it is missing or wrong.
    func own<Value>(_ key: Key<Value>) -> Value? {
        let name = key.entry.name
        guard has(name) else { return nil }
        if let known = values[name] { return known as? Value }
        let value = key.read(self)
        values[name] = value as Any
        return value
    }

    /// Returns the value of a key, or its default.
    func value<Value>(of key: Key<Value>) -> Value { self[key] ?? key.standard }

    /// Returns the nearest table that has one of some inheritable keys: this one, or one around it.
    func nearest(with keys: any DeclaredKey...) -> DeclarationReader? {
        var table: DeclarationReader? = self
        while let reader = table, !keys.contains(where: { reader.has($0) }) { table = reader.outer }
        return table
    }

    func has(_ key: some DeclaredKey) -> Bool { has(key.entry.name) }

    /// Returns true if the table has a key; a boolean one, with the value true.
    func isGiven(_ entry: KeyEntry) -> Bool {
        has(entry.name) && !(entry.type.isBoolean && nodes[entry.name]?.boolean == false)
    }

    /// Returns the text of a key with `${…}` replaced; nil if it is missing or no text.
    func writtenText(_ name: String) -> String? {
        nodes[name]?.string.map(interpolated)
    }

    /// Returns those of the keys that the table has.
    func present(_ keys: any DeclaredKey...) -> [any DeclaredKey] { keys.filter { has($0) } }

    func report(
        _ key: some DeclaredKey, _ finding: @autoclosure () -> String, help: @autoclosure () -> String? = nil
    ) {
        report(key.entry.name, finding(), help: help())
    }

    func value<Value>(_ key: String, _ expected: String, _ convert: (TOMLValue) -> Value?) -> Value? {
        guard let node = nodes[key] else { return nil }
        guard let value = convert(node) else {
            report(key, "expected \(expected), found \(node.typeName)")
            return nil
        }
        return value
    }

    /// Returns a string with `${NAME}` and `${file:PATH}` replaced.
    ///
    /// - Parameters:
    ///   - expected: what the string is, for the message where there is another value.
    ///   - isSent: true where a request sends the string, which then may have `${capture:…}` and the like.
    func text(_ key: String, _ expected: String = "a string", isSent: Bool = false) -> InterpolatedText? {
        value(key, expected, \.string).flatMap { interpolate($0, at: path.appending(key), isSent: isSent) }
    }

    func string(_ key: String, _ expected: String = "a string") -> String? { text(key, expected)?.value }

    /// Keeps a text out of messages.
    func hide(_ secret: String) { interpolation.hide(secret) }

    /// Returns a scalar as text, with `${…}` replaced.
    ///
    /// - Parameter isSent: true where a request sends the text.
    func text(of node: TOMLValue, at path: TOMLKeyPath, isSent: Bool) -> InterpolatedText? {
        switch node {
        case .string(let template): return interpolate(template, at: path, isSent: isSent)
        case .integer(let number): return InterpolatedText(String(number))
        case .float(let number): return InterpolatedText(String(number))
        case .boolean(let flag): return InterpolatedText(String(flag))
        case .date(let date): return InterpolatedText("\(date)")
        default:
            problems.report(path, "expected a string, a number, a boolean or a date, found \(node.typeName)")
            return nil
        }
    }

    /// Returns the path of an existing file.
    func file(_ key: String) -> String? {
        string(key).flatMap { written in
            reporting(key) { try interpolation.locate(written) }
        }
    }

    func array<Element>(
        _ key: String, of elements: String, _ element: String, _ convert: (TOMLValue) -> Element?
    ) -> [Element]? {
        guard let nodes = value(key, "an array of \(elements)", \.array) else { return nil }
        return nodes.enumerated().compactMap { index, node in
            if let converted = convert(node.value) { return converted }
            problems.report(path.appending(key).appending(index), "expected \(element), found \(node.value.typeName)")
            return nil
        }
    }

    // MARK: - Tables

    /// Returns the table of a key; nil if it is missing or wrong.
    func table(_ key: TableKey) -> DeclarationReader? {
        let type = key.entry.type
        guard type.tables == .one, let group = type.group else { return table(key.entry.name, known: nil) }
        return table(key.entry.name, of: group, orTextFor: type.short)
    }

    /// Returns a table of these keys, under a name that the file chooses.
    ///
    /// - Parameters:
    ///   - short: the key for which a string stands in place of a table.
    ///   - outer: the table from which it inherits.
    func table(
        _ name: String, of group: any KeyGroup.Type, orTextFor short: String? = nil,
        within outer: DeclarationReader? = nil
    ) -> DeclarationReader? {
        guard let short else { return table(name, known: group.table, within: outer) }
        guard let node = nodes.node(name), case .string = node.value else {
            return table(name, known: group.table, "a string or a table")
        }
        return reader(TOMLTable([.init(key: short, node: node)]), at: path.appending(name), known: group.table)
    }

    private func table(
        _ name: String, known: KeyTable?, _ expected: String = "a table", within outer: DeclarationReader? = nil
    ) -> DeclarationReader? {
        value(name, expected, \.table).map { reader($0, at: path.appending(name), known: known, within: outer) }
    }

    /// Returns the tables of a key, without those that are none. They inherit from this one.
    func tables(_ key: TableKey) -> [DeclarationReader]? {
        key.entry.type.group.flatMap { tables(key.entry.name, of: $0) }
    }

    func tables(_ name: String, of group: any KeyGroup.Type) -> [DeclarationReader]? {
        value(name, "an array of tables", \.array)?.enumerated().compactMap { index, node in
            let place = path.appending(name).appending(index)
            if let nodes = node.value.table { return reader(nodes, at: place, known: group.table, within: self) }
            problems.report(place, "expected a table, found \(node.value.typeName)")
            return nil
        }
    }

    func reader(
        _ nodes: TOMLTable, at path: TOMLKeyPath, known: KeyTable? = nil, within outer: DeclarationReader? = nil
    ) -> DeclarationReader {
        DeclarationReader(
            nodes, at: path, known: known, within: outer, problems: problems, interpolation: interpolation)
    }

    /// Returns a text with `${…}` replaced; nil where that fails, which is reported.
    ///
    /// - Parameters:
    ///   - isSent: true where a request sends the text. In others, nothing could replace `${capture:…}` and the like.
    ///   - escape: escapes each value; returns nil if that cannot be done.
    func interpolate(
        _ template: String, at path: TOMLKeyPath, isSent: Bool = false, escape: (String) -> String? = { $0 }
    ) -> InterpolatedText? {
        do {
            let isSecret = interpolation.isSecret(path)
            let text = try interpolation.interpolate(template, isSecret: isSecret, escape: escape)
            if let reference = text.references.first, !isSent {
                problems.report(
                    path,
                    "${\(reference)} has a value only when a request is sent: in 'url', 'headers', 'parameters', 'body' "
                        + "and 'soap'", help: "write '$${' for a literal '${'")
                return nil
            }
            if isSecret, !text.isDynamic {
                interpolation.hide(text.value)
                // `Authorization: SCHEME CREDENTIALS` (RFC 9110, section 11.4): the credentials occur alone, too.
                if path.names.last?.lowercased().hasSuffix("authorization") == true,
                    let space = text.value.firstIndex(of: " ")
                {
                    interpolation.hide(String(text.value[space...].dropFirst()))
                }
            }
            return text
        } catch {
            problems.report(path, error)
            return nil
        }
    }

    /// Returns a text with `${…}` replaced, or as written where that fails. The reader of the key reports the failure.
    func interpolated(_ template: String) -> String {
        (try? interpolation.interpolate(template).value) ?? template
    }
}
