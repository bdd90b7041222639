package import FeedModel

/// The place of a value in a TOML document: `sources.directory.requests[1].timeout`. As a text, the first of several is 1.
struct TOMLKeyPath: Sendable, Hashable, CustomStringConvertible {
    typealias Component = KeyPlace.Component

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
        let escaped = key.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"").replacing("\n", with: "\\n")
        return "\"\(escaped)\""
    }
}

extension KeyPlace {
    init(file: String, _ path: TOMLKeyPath) {
        self.init(file: file, path: path.description, components: path.components)
    }

    var keyPath: TOMLKeyPath { TOMLKeyPath(components: components) }

    /// Returns the place of a key within the table at this place.
    ///
    /// - Parameter index: the position in the array that the key has as its value.
    package func appending(_ key: String, _ index: Int? = nil) -> KeyPlace {
        var inner = TOMLKeyPath().appending(key)
        if let index { inner = inner.appending(index) }
        return KeyPlace(
            file: file, path: path.isEmpty ? "\(inner)" : "\(path).\(inner)", components: components + inner.components)
    }
}
