/// All mistakes in a configuration, reported at once.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        /// Empty for a mistake that names its own place.
        public var file: String
        /// The line, counted from 1; nil if the mistake has no line.
        public var line: Int?
        /// `sources.directory.requests[2].timeout`; empty if the mistake concerns the whole file.
        public var keyPath: String
        /// What was found, and behind a semicolon what to do.
        public var message: String
        /// The part of the line that is wrong; nil where that is not known.
        public var excerpt: SourceExcerpt?
        /// The column that ``description`` names behind the message; nil for none.
        var column: Int?

        public init(file: String, line: Int? = nil, keyPath: String = "", message: String) {
            self.file = file
            self.line = line
            self.keyPath = keyPath
            self.message = message
        }

        public var description: String {
            let place = file.isEmpty ? "" : file + (line.map { ":\($0)" } ?? "") + ": "
            let end = column.map { ", at column \($0)" } ?? ""
            return place + (keyPath.isEmpty ? "" : "\(keyPath): ") + message + end
        }

        /// What was found, without what to do.
        public var finding: String { String(message[..<(suggestion ?? message.endIndex)]) }

        /// What to do; nil where the message does not say it.
        public var help: String? { suggestion.map { String(message[$0...].dropFirst(2)) } }

        /// The words with which a message begins to say what to do.
        private static let beginnings: Set<Substring> = [
            "add", "declare", "delete", "did", "drop", "end", "give", "install", "its", "known", "leave", "make",
            "map", "name", "only", "put", "remove", "rename", "restore", "save", "store", "take", "there", "use",
            "write",
        ]

        /// The first semicolon with such a word behind it, but not in quotes, where a text of the file may have one.
        private var suggestion: String.Index? {
            var quote: Character?
            var former: Character = " "
            for index in message.indices {
                let character = message[index]
                defer { former = character }
                if character == quote {
                    quote = nil
                } else if quote == nil, character == "'" || character == "\"", !former.isLetter {
                    quote = character
                } else if quote == nil, message[index...].hasPrefix("; ") {
                    let rest = message[index...].dropFirst(2)
                    if rest.first == "`" || Self.beginnings.contains(rest.prefix { $0 != " " }) { return index }
                }
            }
            return nil
        }
    }

    public var problems: [Problem]

    public init(problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
