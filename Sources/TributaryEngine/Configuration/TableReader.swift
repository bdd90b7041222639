/// Reads the keys of one TOML table strictly: a wrong type is reported as it is met, and a key that nobody asked for
/// by ``finish()``, with the nearest name that somebody did.
final class TableReader {
    let path: TOMLKeyPath
    let problems: ProblemCollector
    private let interpolation: Interpolation
    private let nodes: [String: TOMLNode]
    /// What was asked for, some of it more than once: looked through only where a key may be unknown.
    private var known: [String] = []

    init(
        _ nodes: [String: TOMLNode], at path: TOMLKeyPath, problems: ProblemCollector, interpolation: Interpolation
    ) {
        self.nodes = nodes
        self.path = path
        self.problems = problems
        self.interpolation = interpolation
    }

    var keys: [String] { nodes.keys.sorted() }

    func has(_ key: String) -> Bool { nodes[key] != nil }

    func report(_ key: String, _ message: String) { problems.report(path.appending(key), message) }

    /// Every key with its value and place, in the order of the file. All of them are known.
    func entries() -> [(key: String, node: TOMLNode, path: TOMLKeyPath)] {
        known += nodes.keys
        return problems.inOrder(nodes.map { (key: $0.key, node: $0.value, path: path.appending($0.key)) }, \.path)
    }

    /// Reports every key that was never asked for.
    func finish() {
        for key in keys where !known.contains(key) {
            let names = Set(known)
            let nearest = nearestName(to: key, among: names)
            report(
                key,
                "unknown key"
                    + (nearest.map { "; did you mean '\($0)'?" }
                        ?? "; known here: \(names.sorted().joined(separator: ", "))"))
        }
    }

    // MARK: - Values

    private func node(_ key: String) -> TOMLNode? {
        known.append(key)
        return nodes[key]
    }

    func value<Value>(_ key: String, _ expected: String, _ convert: (TOMLNode) -> Value?) -> Value? {
        guard let node = node(key) else { return nil }
        guard let value = convert(node) else {
            report(key, "expected \(expected), found \(node.typeName)")
            return nil
        }
        return value
    }

    /// A string in which `${NAME}` and `${file:PATH}` have been replaced.
    func text(_ key: String) -> InterpolatedText? {
        guard case .string(let template)? = value(key, "a string", { if case .string = $0 { $0 } else { nil } }) else {
            return nil
        }
        return interpolate(template, at: path.appending(key))
    }

    func string(_ key: String) -> String? { text(key)?.value }

    /// A scalar as text, in which `${…}` is replaced.
    func text(of node: TOMLNode, at path: TOMLKeyPath) -> InterpolatedText? {
        switch node {
        case .string(let template): return interpolate(template, at: path)
        case .integer(let number): return InterpolatedText(String(number))
        case .float(let number): return InterpolatedText(String(number))
        case .boolean(let flag): return InterpolatedText(String(flag))
        default:
            problems.report(path, "expected a string, a number or a boolean, found \(node.typeName)")
            return nil
        }
    }

    /// The path of a file that exists.
    func file(_ key: String) -> String? {
        guard let written = string(key) else { return nil }
        do {
            return try interpolation.locate(written)
        } catch {
            report(key, error.message)
            return nil
        }
    }

    func boolean(_ key: String) -> Bool? {
        value(key, "true or false") { if case .boolean(let value) = $0 { value } else { nil } }
    }

    func positiveInteger(_ key: String) -> Int? {
        guard let number = value(key, "an integer", { if case .integer(let value) = $0 { value } else { nil } }) else {
            return nil
        }
        guard number > 0 else {
            report(key, "expected an integer above 0, found \(number)")
            return nil
        }
        return number
    }

    func nonNegativeInteger(_ key: String) -> Int? {
        guard let number = value(key, "an integer", { if case .integer(let value) = $0 { value } else { nil } }) else {
            return nil
        }
        guard number >= 0 else {
            report(key, "expected 0 or more, found \(number)")
            return nil
        }
        return number
    }

    /// An array of integers.
    func integers(_ key: String) -> [Int]? {
        guard let nodes = value(key, "an array of integers", { if case .array(let nodes) = $0 { nodes } else { nil } })
        else { return nil }
        return nodes.enumerated().compactMap { index, node in
            if case .integer(let number) = node { return number }
            problems.report(path.appending(key).appending(index), "expected an integer, found \(node.typeName)")
            return nil
        }
    }

    func duration(_ key: String) -> Duration? {
        guard let text = string(key) else { return nil }
        guard let duration = Duration(configuration: text) else {
            report(key, "'\(text)' is not a duration; write \"500ms\", \"5s\", \"15m\", \"6h\" or \"1d\"")
            return nil
        }
        return duration
    }

    func byteSize(_ key: String) -> Int? {
        guard let text = string(key) else { return nil }
        guard let size = ByteSize.parse(text) else {
            report(key, "'\(text)' is not a size; write \"512B\", \"64KiB\", \"256MiB\" or \"1GiB\"")
            return nil
        }
        return size
    }

    func choice<Choice: RawRepresentable & CaseIterable>(_ key: String, _ type: Choice.Type) -> Choice?
    where Choice.RawValue == String {
        guard let text = string(key) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let names = Choice.allCases.map(\.rawValue)
        let nearest = nearestName(to: text, among: names)
        report(
            key,
            "'\(text)' is none of \(names.joined(separator: ", "))" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
        return nil
    }

    /// A table of strings, such as headers: numbers and booleans are taken as they are written.
    func texts(_ key: String) -> [String: InterpolatedText]? {
        guard let table = value(key, "a table", { if case .table(let nodes) = $0 { nodes } else { nil } }) else {
            return nil
        }
        var texts: [String: InterpolatedText] = [:]
        for (name, node) in table {
            let place = path.appending(key).appending(name)
            switch node {
            case .string(let template): texts[name] = interpolate(template, at: place)
            case .integer(let number): texts[name] = InterpolatedText(String(number))
            case .boolean(let flag): texts[name] = InterpolatedText(String(flag))
            default: problems.report(place, "expected a string, found \(node.typeName)")
            }
        }
        return texts
    }

    /// An array of strings.
    func strings(_ key: String) -> [String]? {
        guard let nodes = value(key, "an array of strings", { if case .array(let nodes) = $0 { nodes } else { nil } })
        else { return nil }
        return nodes.enumerated().compactMap { index, node in
            if case .string(let text) = node { return text }
            problems.report(path.appending(key).appending(index), "expected a string, found \(node.typeName)")
            return nil
        }
    }

    /// A constant: a string, in which nothing is replaced, a number or a boolean.
    func scalar(_ key: String) -> TOMLScalar? {
        value(key, "a string, a number or a boolean") { Self.scalar($0) }
    }

    /// A table of constants, in alphabetical order.
    func scalars(_ key: String) -> [(name: String, value: TOMLScalar)]? {
        guard let table = value(key, "a table", { if case .table(let nodes) = $0 { nodes } else { nil } }) else {
            return nil
        }
        return table.sorted { $0.key < $1.key }.compactMap { name, node in
            if let value = Self.scalar(node) { return (name, value) }
            problems.report(
                path.appending(key).appending(name),
                "expected a string, a number or a boolean, found \(node.typeName)")
            return nil
        }
    }

    private static func scalar(_ node: TOMLNode) -> TOMLScalar? {
        switch node {
        case .string(let text): .text(text)
        case .integer(let number): .integer(number)
        case .float(let number): .real(number)
        case .boolean(let flag): .boolean(flag)
        default: nil
        }
    }

    // MARK: - Tables

    /// A table, or a string that is short for a table with this one key.
    func table(_ key: String, orTextFor short: String) -> TableReader? {
        if case .string? = nodes[key] {
            known.append(key)
            return nodes[key].map { reader([short: $0], at: path.appending(key)) }
        }
        return table(key)
    }

    func table(_ key: String) -> TableReader? {
        guard let nodes = value(key, "a table", { if case .table(let nodes) = $0 { nodes } else { nil } }) else {
            return nil
        }
        return reader(nodes, at: path.appending(key))
    }

    func tables(_ key: String) -> [TableReader]? {
        guard let elements = value(key, "an array of tables", { if case .array(let nodes) = $0 { nodes } else { nil } })
        else {
            return nil
        }
        return elements.enumerated().compactMap { index, node in
            guard case .table(let nodes) = node else {
                problems.report(path.appending(key).appending(index), "expected a table, found \(node.typeName)")
                return nil
            }
            return reader(nodes, at: path.appending(key).appending(index))
        }
    }

    func reader(_ nodes: [String: TOMLNode], at path: TOMLKeyPath) -> TableReader {
        TableReader(nodes, at: path, problems: problems, interpolation: interpolation)
    }

    func interpolate(
        _ template: String, at path: @autoclosure () -> TOMLKeyPath, escape: (String) -> String? = { $0 }
    ) -> InterpolatedText? {
        do {
            return try interpolation.interpolate(template, escape: escape)
        } catch {
            problems.report(path(), error.message)
            return nil
        }
    }
}
