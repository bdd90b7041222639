/// A pattern for the names of files: `*` stands for any characters but `/`, `?` for one of them, `**/` for any folders or
/// none, and `**` at the end for everything below.
package struct MemberPattern: Sendable, Hashable {
    package let text: String
    private let tokens: [Token]

    private enum Token: Sendable, Hashable {
        case character(Unicode.Scalar)
        case one, some, folders, everything
    }

    package init(_ text: String) {
        self.text = text
        var tokens: [Token] = []
        var rest = Substring(text).unicodeScalars
        var isAtFolder = true
        while let character = rest.first {
            if isAtFolder, rest.starts(with: "**/".unicodeScalars) {
                tokens.append(.folders)
                rest = rest.dropFirst(3)
                continue
            }
            if isAtFolder, rest.elementsEqual("**".unicodeScalars) {
                tokens.append(.everything)
                break
            }
            rest = rest.dropFirst()
            isAtFolder = character == "/"
            switch character {
            case "*": tokens.append(.some)
            case "?": tokens.append(.one)
            default: tokens.append(.character(character))
            }
        }
        self.tokens = tokens
    }

    /// Returns true for a name that matches as a whole. Upper and lower case differ.
    package func matches(_ name: String) -> Bool {
        // The places of the pattern that the name so far may have reached, all at once: no name makes a pattern slow.
        var places = [Bool](repeating: false, count: tokens.count + 1)
        places[0] = true
        skip(&places, isAtFolder: true)
        for character in name.unicodeScalars {
            var next = [Bool](repeating: false, count: tokens.count + 1)
            for index in tokens.indices where places[index] {
                switch tokens[index] {
                case .character(let expected): next[index + 1] = next[index + 1] || character == expected
                case .one: next[index + 1] = next[index + 1] || character != "/"
                case .some: next[index] = next[index] || character != "/"
                case .folders, .everything: next[index] = true
                }
            }
            skip(&next, isAtFolder: character == "/")
            places = next
        }
        return places[tokens.count]
    }

    /// Also marks the places behind tokens that may stand for nothing.
    private func skip(_ places: inout [Bool], isAtFolder: Bool) {
        for index in tokens.indices where places[index] {
            switch tokens[index] {
            case .some, .everything: places[index + 1] = true
            case .folders: places[index + 1] = places[index + 1] || isAtFolder
            case .character, .one: break
            }
        }
    }
}
