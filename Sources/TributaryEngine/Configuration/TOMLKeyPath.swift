/// The place of a value in a TOML document: `sources.directory.requests[1].timeout`.
struct TOMLKeyPath: Sendable, Hashable, CustomStringConvertible {
    enum Component: Sendable, Hashable {
        case key(String)
        case index(Int)
    }

    var components: [Component] = []

    func appending(_ key: String) -> TOMLKeyPath { TOMLKeyPath(components: components + [.key(key)]) }
    func appending(_ index: Int) -> TOMLKeyPath { TOMLKeyPath(components: components + [.index(index)]) }

    var parent: TOMLKeyPath { TOMLKeyPath(components: components.dropLast()) }

    var description: String {
        components.reduce(into: "") { text, component in
            switch component {
            case .key(let key):
                if !text.isEmpty { text += "." }
                text += key.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "-" } ? key : "\"\(key)\""
            case .index(let index):
                text += "[\(index)]"
            }
        }
    }
}
