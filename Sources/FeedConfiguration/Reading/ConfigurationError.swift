/// All mistakes in a configuration, reported at once.
public struct ConfigurationError: Error, Sendable, Equatable, CustomStringConvertible {
    public struct Problem: Sendable, Equatable, CustomStringConvertible {
        public var file: String
        /// The line, counted from 1; nil if the mistake has no line.
        public var line: Int?
        /// `sources.directory.requests[2].timeout`; empty if the mistake concerns the whole file.
        public var keyPath: String
        public var message: String

        public init(file: String, line: Int? = nil, keyPath: String = "", message: String) {
            self.file = file
            self.line = line
            self.keyPath = keyPath
            self.message = message
        }

        public var description: String {
            var text = file
            if let line { text += ":\(line)" }
            if !keyPath.isEmpty { text += ": \(keyPath)" }
            return text + ": " + message
        }
    }

    public var problems: [Problem]

    public init(problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
