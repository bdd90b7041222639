import FeedModel

/// A pattern for the names of files: `*` stands for any characters but `/`, `?` for one of them, `**/` for any folders or
/// none, and `**` at the end for everything below.
package struct MemberPattern: Sendable, Hashable {
    /// The most bytes of a pattern.
    package static let lengthLimit = 1024

    package let text: String
    private let tokens: [Token]

    private enum Token: Sendable, Hashable {
        case character(Unicode.Scalar)
        case one, any, some, folders, everything
    }

    /// - Parameter hasFolders: false for a pattern of names in which `/` is a character like others.
    package init(_ text: String, hasFolders: Bool = true) {
        self.text = text
        var tokens: [Token] = []
        var rest = Substring(text).unicodeScalars
        var isAtFolder = hasFolders
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
            isAtFolder = hasFolders && character == "/"
            switch character {
            case "*": tokens.append(hasFolders ? .some : .everything)
            case "?": tokens.append(hasFolders ? .one : .any)
            default: tokens.append(.character(character))
            }
        }
        self.tokens = tokens
    }

    /// - Throws: ``Finding`` for a pattern that is too long.
    init(inAddress text: String) throws(Finding) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw Finding("its pattern has more than \(Self.lengthLimit) bytes")
        }
        self.init(text)
    }

    /// True if names in subfolders may match.
    package var spansFolders: Bool { text.contains("/") || text == "**" }

    /// The characters with which every name that matches begins.
    package var beginning: String { String(text.prefix { $0 != "*" && $0 != "?" }) }

    /// Returns the name that patterns know a file by. Names in other encodings than UTF-8 stay unlike each other: their bytes are
    /// written as in a URL.
    package static func name(of bytes: some Collection<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self)
            ?? bytes.map { byte in
                byte < 0x80 ? String(UnicodeScalar(byte)) : "%" + String(byte, radix: 16, uppercase: true)
            }.joined()
    }

    /// Returns true for a name that matches as a whole. Upper and lower case differ.
    package func matches(_ name: String) -> Bool { places(after: name)[tokens.count] }

    /// Returns true if names below a folder may match.
    ///
    /// - Parameter folder: the folder's name, without a `/` at its end.
    package func mayMatch(below folder: String) -> Bool { places(after: folder + "/").dropLast().contains(true) }

    /// Returns the places of the pattern that a name may have reached, all at once: no name makes a pattern slow.
    private func places(after name: String) -> [Bool] {
        var places = [Bool](repeating: false, count: tokens.count + 1)
        places[0] = true
        skip(&places, isAtFolder: true)
        for character in name.unicodeScalars {
            var next = [Bool](repeating: false, count: tokens.count + 1)
            for index in tokens.indices where places[index] {
                switch tokens[index] {
                case .character(let expected): next[index + 1] = next[index + 1] || character == expected
                case .one: next[index + 1] = next[index + 1] || character != "/"
                case .any: next[index + 1] = true
                case .some: next[index] = next[index] || character != "/"
                case .folders, .everything: next[index] = true
                }
            }
            skip(&next, isAtFolder: character == "/")
            places = next
        }
        return places
    }

    /// Also marks the places after tokens that may match nothing.
    private func skip(_ places: inout [Bool], isAtFolder: Bool) {
        for index in tokens.indices where places[index] {
            switch tokens[index] {
            case .some, .everything: places[index + 1] = true
            case .folders: places[index + 1] = places[index + 1] || isAtFolder
            case .character, .one, .any: break
            }
        }
    }
}
