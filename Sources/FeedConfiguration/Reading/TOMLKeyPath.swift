package import FeedModel

/// The place of a value in a TOML document: `sources.directory.requests[1].timeout`. As a text, the first of several is 1.
struct TOMLKeyPath: Sendable, Hashable, CustomStringConvertible {
    enum Component: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    var components: [Component] = []

    func appending(_ keys: String...) -> TOMLKeyPath {
        TOMLKeyPath(components: components + keys.map { .key($0) })
    }
    func appending(_ index: Int) -> TOMLKeyPath { TOMLKeyPath(components: components + [.index(index)]) }

    /// The path of the table around.
    var parent: TOMLKeyPath { TOMLKeyPath(components: Array(components.dropLast())) }

    /// The names, without the positions in arrays.
    var names: [String] { components.compactMap { if case .key(let key) = $0 { key } else { nil } } }

    var description: String {
        components.reduce(into: "") { text, component in
            switch component {
            case .key(let key):
                let key = key.shortened(to: ConfigurationLimits.shownKey)
                if !text.isEmpty { text += "." }
                text += !key.isEmpty && key.allSatisfy(Self.isBare) ? key : Self.quoted(key)
            case .index(let index):
                text += "[\(index + 1)]"
            }
        }
    }

    private static func isBare(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || character == "_" || character == "-"
    }

    private static func quoted(_ key: String) -> String {
        key.reduce(into: "\"") { text, character in
            switch character {
            case "\"", "\\": text += "\\\(character)"
            case "\n": text += "\\n"
            default: text.append(character)
            }
        } + "\""
    }

    // MARK: - Reading

    /// Returns the path at the start of a text, as ``description`` writes it, and the rest of the text.
    static func read(from text: Substring) -> (path: TOMLKeyPath, rest: Substring) {
        var path = TOMLKeyPath()
        var rest = text
        while let key = key(&rest) {
            path = path.appending(key)
            while let index = index(&rest) { path = path.appending(index) }
            guard rest.first == "." else { break }
            rest.removeFirst()
        }
        return (path, rest)
    }

    private static func key(_ rest: inout Substring) -> String? {
        guard rest.first == "\"" else {
            let key = rest.prefix(while: isBare)
            rest = rest.dropFirst(key.count)
            return key.isEmpty ? nil : String(key)
        }
        var key = ""
        var inner = rest.dropFirst()
        while let character = inner.popFirst(), character != "\"" {
            guard character == "\\" else {
                key.append(character)
                continue
            }
            guard let escaped = inner.popFirst() else { return nil }
            key.append(escaped == "n" ? "\n" : escaped)
        }
        rest = inner
        return key
    }

    private static func index(_ rest: inout Substring) -> Int? {
        guard rest.first == "[", let end = rest.firstIndex(of: "]"),
            let number = Int(rest[rest.index(after: rest.startIndex)..<end]), number > 0
        else { return nil }
        rest = rest[rest.index(after: end)...]
        return number - 1
    }
}

extension KeyPlace {
    init(file: String, _ path: TOMLKeyPath) { self.init(file: file, path: path.description) }

    /// The key's path; nil where the place is no key.
    var keyPath: TOMLKeyPath? {
        let (path, rest) = TOMLKeyPath.read(from: self.path[...])
        return rest.isEmpty ? path : nil
    }

    /// Returns the place of a key in the table at this one.
    ///
    /// - Parameter index: the position of an element of the key's array, counted from 0.
    package func appending(_ key: String, _ index: Int? = nil) -> KeyPlace {
        var inner = TOMLKeyPath().appending(key)
        if let index { inner = inner.appending(index) }
        return KeyPlace(file: file, path: path.isEmpty ? "\(inner)" : "\(path).\(inner)")
    }
}
